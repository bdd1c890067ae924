"""Operators for what meshes and armatures go through: weights that outlive a remesh, fewer bones.
What a mesh takes from another one that is there now is in weights/."""
