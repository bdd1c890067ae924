"""The input of a solver: options, meshes joined into one problem, weights as sparse rows, and
edits. The code of this folder does not solve anything."""
