"""Bones without a mesh: their names, kinds and symmetry, which of them deform, and their poses.
What also looks at the mesh belongs in character/."""
