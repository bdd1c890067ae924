"""Bendy bones: groups of vertices for the parameters
that a bone of many segments takes."""
