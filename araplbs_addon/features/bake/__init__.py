"""Bake Deformation: weights, and bones, that come nearest
to frames of a mesh."""
