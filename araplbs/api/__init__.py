"""The functions of araplbs for programs that need no details of the engine: one call from arrays
or files to weights, with everything that the button in Blender does."""
