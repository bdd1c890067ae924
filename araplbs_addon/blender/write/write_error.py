"""Writes the error of every vertex as a color attribute of the mesh."""

import numpy as np

NAME = "Bake Error"


def write_error(ob, colors):
    """Writes colors (n, 4), which replace the earlier ones."""
    attributes = ob.data.color_attributes
    old = attributes.get(NAME)
    if old:
        attributes.remove(old)
    layer = attributes.new(NAME, "FLOAT_COLOR", "POINT")
    layer.data.foreach_set("color", np.ascontiguousarray(colors, np.float32).ravel())
    attributes.active_color = attributes[NAME]
