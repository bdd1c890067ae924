"""Blender's data as the input of core: armatures, meshes, present weights, and which are meant.
Nothing in the scene is left changed."""
