"""The functions of araplbs for programs that need no detail of the engine: one call from arrays or
files to weights, with all that the button in Blender does."""
