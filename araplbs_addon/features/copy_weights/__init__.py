"""Copy Weights: weights for meshes with the same vertices,
exactly."""
