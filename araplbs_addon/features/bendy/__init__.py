"""Bendy bones: converts them to plain bones with their own vertex groups."""
