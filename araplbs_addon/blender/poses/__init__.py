"""Poses in a file: their sources, their playback, and the motion of flexible bones in these poses.
Random poses of rigs with controls belong in rig/."""
