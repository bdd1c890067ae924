"""Weights newly added vertices; all other vertices keep their weights."""
