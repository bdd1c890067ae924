"""Measures the effect of given weights on the mesh in given poses: deformers, energy, strain, drift
and volume. All measures use the engine's own functions."""
