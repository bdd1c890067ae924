"""The user interface. A room imports from itself and from those before it in ROOMS of
tests/package/house/test_rooms.py."""
