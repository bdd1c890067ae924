"""Functions for programs that do not need the details of the engine. One call computes weights from
arrays or files, with all features of the button in Blender."""
