"""The whole work on weights that are copied as they are: read, match, write."""
