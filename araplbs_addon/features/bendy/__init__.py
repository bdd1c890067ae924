"""Converts bendy bones to plain bones with their own vertex groups."""
