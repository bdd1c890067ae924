"""The vertices of a mesh as seen on the screen: deformed, in world space."""

import numpy as np

from ..data.mesh_shape import points_of


def posed_vertices(ob, depsgraph):
    """(n, 3) world coordinates of the object's own vertices as the modifiers leave them.

    Modifiers that make vertices (Subdivision Surface, Mirror, Solidify ...) put the own ones first;
    behind those that take some away the rest shape is all that is known.
    """
    n = len(ob.data.vertices)
    evaluated = ob.evaluated_get(depsgraph)
    source = evaluated.data if len(evaluated.data.vertices) >= n else ob.data
    return _in_world(source, evaluated)[:n]


def evaluated_vertices(ob, depsgraph):
    """(k, 3) where all vertices are that the modifiers leave, new ones too."""
    evaluated = ob.evaluated_get(depsgraph)
    return _in_world(evaluated.data, evaluated)


def _in_world(mesh, evaluated):
    matrix = np.array(evaluated.matrix_world)
    return points_of(mesh) @ matrix[:3, :3].T + matrix[:3, 3]
