"""Weights for vertices that have just been added;
all others keep theirs."""
