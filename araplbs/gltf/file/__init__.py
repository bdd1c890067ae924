"""Handles the glTF 2.0 format: validated JSON, buffers, and the arrays in the buffers."""
