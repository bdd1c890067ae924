"""Characters in .glb, .gltf and .vrm files: read, weighted, and written with everything else
unchanged."""
