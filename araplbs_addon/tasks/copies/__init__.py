"""The task for weights that are copied as they are: read, match, write."""
