"""Keep Weights and Restore Weights: store weights
before the mesh changes, and restore them afterwards."""
