"""Transfer Weights: weights of a body for clothes
and other meshes on it."""
