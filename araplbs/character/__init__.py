"""A skeleton together with its meshes: meshes joined into one problem for the solver, and what both
together tell, such as control bones, rigid parts, mirror images and faults of the mesh."""
