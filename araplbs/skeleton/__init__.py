"""Bones without a mesh, including their names, kinds, symmetry, deform status and poses. Code that
also uses the mesh belongs in character/."""
