"""The whole work on the motion of an armature: read, solve, write."""
