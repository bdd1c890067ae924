"""Reduce Bones: weights that deform
with fewer bones."""
