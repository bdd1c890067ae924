"""Bendy bones: creates vertex groups that store the position along a bone with several segments."""
