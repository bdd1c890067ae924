"""Tasks: all the work on one armature and its meshes, from reading to writing."""
