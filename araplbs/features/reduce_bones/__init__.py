"""Reduce Bones: computes weights that deform the mesh with fewer bones,
and chooses the bones that the character needs least."""
