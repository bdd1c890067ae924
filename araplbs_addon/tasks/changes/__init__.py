"""The task for what meshes and armatures go through: read, solve, write."""
