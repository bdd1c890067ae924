"""The only modules that read or write Blender's data, on the main thread only. A room may import
from itself and from the rooms listed before it in ROOMS of tests/package/house/test_layers.py."""
