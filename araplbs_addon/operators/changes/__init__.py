"""Operators for what meshes and armatures go through: weights that outlive a remesh, fewer bones.
Transfers from another present mesh are in weights/."""
