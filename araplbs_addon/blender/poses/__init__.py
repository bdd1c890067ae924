"""Poses in a file: their sources, their playback, and the motion of flexible
bones in them. Random poses of rigs with controls belong in rig/."""
