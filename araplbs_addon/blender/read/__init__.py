"""Reads Blender's data as the input of a task: finds the objects to work on,
and reads armatures, meshes and current weights. The scene stays unchanged."""
