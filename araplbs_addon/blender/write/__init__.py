"""Weights, bones, colors and selections into Blender's data, whole or not at all.
All weights go through write_weights.py."""
