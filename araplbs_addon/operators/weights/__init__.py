"""Operators that make weights, or bones and pages from them; one feature per file.
All but the smallest are WorkOperators or LiveOperators."""
