"""Poses that a file has: their sources, how they are played, the motion of flexible bones in them.
Random poses of rigs with controls belong in rig/."""
