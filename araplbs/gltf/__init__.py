"""Characters in .glb, .gltf and .vrm files, which are read, weighted, and written with all other
content unchanged."""
