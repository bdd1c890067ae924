"""Reads the vertices of a mesh as displayed on the screen: deformed, in world space."""

import numpy as np
from araplbs.base.affine import moved

from ..data.mesh_shape import points_of


def posed_vertices(ob, depsgraph):
    """The world coordinates (n, 3) of the object's own vertices after its modifiers.

    Modifiers that create vertices (Subdivision Surface, Mirror, Solidify ...) list the object's own
    vertices first. After modifiers that remove vertices, only the rest shape is known.
    """
    n = len(ob.data.vertices)
    evaluated = ob.evaluated_get(depsgraph)
    source = evaluated.data if len(evaluated.data.vertices) >= n else ob.data
    return _in_world(source, evaluated)[:n]


def evaluated_vertices(ob, depsgraph):
    """The positions (k, 3) of all vertices after the modifiers, including new vertices."""
    evaluated = ob.evaluated_get(depsgraph)
    return _in_world(evaluated.data, evaluated)


def _in_world(mesh, evaluated):
    return moved(points_of(mesh), np.array(evaluated.matrix_world))
