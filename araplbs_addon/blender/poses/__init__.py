"""Finds and plays the poses in a file, and reads the motion of flexible bones in these poses.
Random poses of rigs with controls belong in rig/."""
