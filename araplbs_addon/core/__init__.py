"""The part of the add-on that knows nothing of Blender: it can be imported and tested without bpy.
A room imports from itself and from those before it in ROOMS of tests/core/test_layers.py."""
