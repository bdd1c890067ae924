"""Keep Weights and Restore Weights: weights that come back
after a change of the mesh."""
