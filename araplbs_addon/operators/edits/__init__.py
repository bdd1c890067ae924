"""Operators that mark and select what the solver respects: edits, brushes, rigid parts.
They solve nothing."""
