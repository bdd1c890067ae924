"""Reads characters in .glb, .gltf and .vrm files, weights them, and writes the files with all other
content unchanged."""
