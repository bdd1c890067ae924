"""Keep Weights stores the weights before the mesh changes, and Restore Weights restores them
afterwards."""
