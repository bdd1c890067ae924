"""The only modules that read or write Blender's data; main thread only.
A room imports from itself and from those before it in ROOMS of
tests/package/house/test_layers.py."""
