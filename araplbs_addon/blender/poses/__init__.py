"""Poses that a file has: their sources, how they are played, what flexible bones do in them. Random
poses of rigs with controls belong in rig/."""
