"""Writes weights, bones, colors and selections to Blender's data, as a whole or not at all. All
weights go through write_weights.py."""
