"""Bones without a mesh: their names, kinds and symmetry, which of them deform, and their poses.
Code that also uses the mesh belongs in character/."""
