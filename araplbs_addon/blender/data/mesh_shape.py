"""Reads the mesh elements that identify unchanged vertices, and the effect of shape keys."""

import hashlib

import numpy as np
from araplbs.base.refusal import Refused

# For data that Blender stores as unsigned integers. Blender copies a whole array of its own type,
# but converts the numbers of any other type one by one.
UNSIGNED = np.uint32


class MeshShape:
    def __init__(self, mesh):
        self.count, self._edges, self._points = len(mesh.vertices), _edges(mesh), points_of(mesh)

    def is_of(self, mesh):
        """Whether the mesh has these vertices, in this order. Their positions may differ."""
        if len(mesh.vertices) != self.count:
            return False
        return (len(mesh.edges) > 0 and _edges(mesh) == self._edges) or self.begins(mesh)

    def begins(self, mesh):
        """Whether the mesh begins with these vertices at these positions. Other vertices may
        follow."""
        return np.array_equal(points_of(mesh)[: self.count], self._points)


def corner_vertices(mesh):
    """(corners,) the vertex of each face corner."""
    return _numbers(mesh, ".corner_vert", mesh.loops, "vertex_index")


def corner_edges(mesh):
    """(corners,) the edge that starts at each face corner."""
    return _numbers(mesh, ".corner_edge", mesh.loops, "edge_index")


def edge_vertices(mesh):
    """(edges, 2) vertices of each edge."""
    return _numbers(mesh, ".edge_verts", mesh.edges, "vertices", 2).reshape(-1, 2)


def triangle_vertices(mesh):
    """(f, 3) vertices of the triangles into which Blender itself divides faces."""
    mesh.calc_loop_triangles()
    corners = values_of(mesh.loop_triangles, "loops", UNSIGNED, 3)
    return corner_vertices(mesh)[corners].reshape(-1, 3)


def points_of(mesh):
    """The vertex positions, (n, 3) float32."""
    found = _attribute(mesh, "position", mesh.vertices)
    items, name = (found, "vector") if found else (mesh.vertices, "co")
    return values_of(items, name, np.float32, 3).reshape(-1, 3)


def _numbers(mesh, attribute, items, name, each=1):
    """(each * items,) integers read from a collection."""
    found = _attribute(mesh, attribute, items)
    if found:
        return values_of(found, "value", np.int32, each)
    return values_of(items, name, UNSIGNED, each).astype(np.int32)


def _attribute(mesh, name, items):
    """An equivalent attribute that can be read in a hundredth of the time; None in Edit mode, which
    hides such attributes."""
    found = mesh.attributes.get(name)
    return found.data if found and len(found.data) == len(items) else None


def values_of(items, name, kind, each=1):
    """(each * items,) the values of a property of all items of a collection."""
    values = np.empty(each * len(items), kind)
    items.foreach_get(name, values)
    return values


def at_corners(mesh, values):
    """(corners,) for each face corner, the value of its face: values (faces,)."""
    return np.repeat(values, values_of(mesh.polygons, "loop_total", np.int32))


def _edges(mesh):
    return hashlib.sha1(edge_vertices(mesh).tobytes(), usedforsecurity=False).digest()


def refuse_absolute(ob):
    """Raises Refused if the shape keys are absolute and follow each other in time."""
    keys = ob.data.shape_keys
    if keys and not keys.use_relative:
        raise Refused(f"'{ob.name}' has absolute shape keys: turn on Relative first")


def coordinates_of(block):
    """(n, 3) coordinates of one shape key."""
    return values_of(block.data, "co", np.float32, 3).reshape(-1, 3)


def read_shapes_in_steps(ob):
    """(names, (k, n, 3)): the mesh positions with each shape key alone at value 1, including the
    effect of the key's vertex group. The function is a generator of short steps. Raises Refused for
    coordinates that are not finite."""
    keys = ob.data.shape_keys
    rest = coordinates_of(keys.reference_key).astype(np.float64)
    names, shapes = [], []
    for block in keys.key_blocks:
        if block == keys.reference_key:
            continue
        move = coordinates_of(block).astype(np.float64) - coordinates_of(block.relative_key)
        if not np.isfinite(move).all():
            bad = int(np.flatnonzero(~np.isfinite(move).all(1))[0])
            raise Refused(
                f"'{ob.name}' has coordinates that are not finite in the shape key "
                f"'{block.name}' (first: vertex {bad})"
            )
        group = ob.vertex_groups.get(block.vertex_group) if block.vertex_group else None
        if group:
            move *= group_weights(ob, group)[:, None]
        names.append(block.name)
        shapes.append(rest + move)
        yield
    return names, np.array(shapes).reshape(-1, len(rest), 3)


def group_weights(ob, group, which=None):
    """(k,) the weights that the vertices `which` (k,), by default all, have in a vertex group."""
    vertices = ob.data.vertices
    which = range(len(vertices)) if which is None else which.tolist()
    weights = np.zeros(len(which))
    for k, vertex in enumerate(which):
        for element in vertices[vertex].groups:
            if element.group == group.index:
                weights[k] = element.weight
    return weights
