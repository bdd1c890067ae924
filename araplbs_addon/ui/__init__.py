"""The user interface. A room may import from itself and from the rooms
listed before it in ROOMS of tests/package/house/test_rooms.py."""
