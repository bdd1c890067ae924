"""Keep Weights stores the weights before the mesh changes; Restore Weights restores them
afterwards."""
