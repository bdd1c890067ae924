"""The whole work on what meshes and armatures go through: read, solve, write."""
