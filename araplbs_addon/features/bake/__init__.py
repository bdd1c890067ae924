"""Bake Deformation: weights, and optionally bones,
that best reproduce the frames of a mesh."""
