"""Bendy bones: vertex groups for the position
along a bone with several segments."""
