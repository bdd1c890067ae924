"""Copy Weights copies weights exactly to meshes with the same vertices."""
