"""Keep Weights stores weights before the mesh changes, and Restore Weights restores them
afterwards."""
