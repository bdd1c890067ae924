"""Bake Deformation computes weights and, optionally, new bones that best reproduce the frames of a
mesh."""
