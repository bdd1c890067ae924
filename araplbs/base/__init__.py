"""The base of all other folders. Contains errors, progress, steps and threads of work, and the
native module. No code in this folder deals with bones, meshes or files."""
