"""The user interface. A folder may import from itself and from the folders
listed before it in ROOMS of tests/package/house/test_rooms.py."""
