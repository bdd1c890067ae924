"""Weights newly added vertices. All other vertices keep their weights."""
