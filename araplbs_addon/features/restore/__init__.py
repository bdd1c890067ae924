"""Keep Weights and Restore Weights: weights are kept before the mesh changes, and restored after
it."""
