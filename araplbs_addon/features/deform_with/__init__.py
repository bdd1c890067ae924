"""Deform With deforms meshes with dual quaternions or centers of rotation in Geometry Nodes."""
