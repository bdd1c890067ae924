"""The task for the motion of an armature: read, solve, write."""
