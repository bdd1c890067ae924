"""The only modules that read or write Blender's data. They run only on the main thread. A folder
may import from itself and from the folders listed before it in ROOMS of
tests/package/house/test_rooms.py."""
