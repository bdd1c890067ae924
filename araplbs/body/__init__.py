"""Finds bodies in a skeleton by shape alone (mirrored chains, legs, arms and trunk), and moves them
as in a walk."""
