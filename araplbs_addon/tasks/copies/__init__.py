"""The task for weights that are copied unchanged: read, match, write."""
