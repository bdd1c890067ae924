"""Check Weights: findings about the weights
of a character, and the list of findings."""
