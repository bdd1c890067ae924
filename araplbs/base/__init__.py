"""The base of everything else: errors, progress, steps and threads of work, the native module.
Nothing here knows of bones, meshes or files."""
