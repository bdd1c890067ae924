"""Reduce Bones computes weights that deform the mesh with fewer bones."""
