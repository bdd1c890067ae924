"""Check Weights: findings about the weights of a character,
and their list."""
