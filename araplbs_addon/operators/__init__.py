"""The operators, one per file."""
