"""Poses in a file: their sources, how they are played, and the motion of flexible bones in them.
Random poses of rigs with controls belong in rig/."""
