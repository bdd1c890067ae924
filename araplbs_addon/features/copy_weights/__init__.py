"""Copy Weights: exact copies of weights
for meshes with the same vertices."""
