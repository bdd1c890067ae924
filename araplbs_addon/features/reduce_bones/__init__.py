"""Reduce Bones: weights that deform
the mesh with fewer bones."""
