"""Keep Weights and Restore Weights: stores the weights before the mesh changes, and restores them
afterwards."""
