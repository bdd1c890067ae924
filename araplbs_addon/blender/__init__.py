"""Reads and writes Blender's data, only on the main thread. No other modules do so. A folder may
import from itself and from the folders listed before it in ROOMS of
tests/package/house/test_rooms.py."""
