"""Transfer Weights copies the weights of a body to clothes and other meshes on it."""
