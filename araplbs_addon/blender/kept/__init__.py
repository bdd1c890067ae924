"""Weights that are kept for meshes as they will be: read, held by armatures, written.
The bytes are made in araplbs/tools/kept.py."""
