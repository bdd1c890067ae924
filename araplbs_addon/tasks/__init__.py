"""The whole work on one armature and its meshes: read, solve, write."""
