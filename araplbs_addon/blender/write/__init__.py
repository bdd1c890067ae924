"""Writes weights, bones, colors and selections to Blender's data, either
completely or not at all. All weights are written through write_weights.py."""
