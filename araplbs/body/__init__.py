"""Finds a body in a skeleton by shape alone (mirrored chains, legs, arms and trunk), and poses it
as in a walk."""
