"""Reduce Bones chooses the bones that the character needs least, and computes weights that deform
the mesh without them."""
