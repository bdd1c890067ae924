"""Transfer Shape Keys transfers the shape keys of one mesh to other meshes on it."""
