"""The effect of given weights on the mesh in given poses: deformers, energy, strain, drift and
volume. Everything is measured with the engine's own functions."""
