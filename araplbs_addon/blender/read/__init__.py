"""Reads Blender's data as the input of a task: armatures, meshes and present weights, and finds the
ones to work on. The scene stays unchanged."""
