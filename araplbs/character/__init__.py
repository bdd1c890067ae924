"""The input of a solver: options, meshes joined into one problem, weights as sparse rows, and
edits. Nothing is solved here."""
