"""Functions of araplbs for programs that do not need the details of the engine: one call from
arrays or files to weights, with all features of the button in Blender."""
