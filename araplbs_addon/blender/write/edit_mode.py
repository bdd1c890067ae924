"""Reads and writes the weights of meshes in Edit mode without leaving it."""

import bmesh
import numpy as np
from araplbs.model.group_entries import wanted_entries

from ..data.binding import mark_centers_old
from ..data.mesh_shape import values_of
from .write_weights import make_groups


def flush_edit_mode(objects):
    """Updates the mesh data of objects in Edit mode to their edited state, without leaving Edit
    mode."""
    for ob in objects:
        ob.update_from_editmode()


def selected_vertices(ob):
    """(n,) bool: the selected vertices of a flushed mesh."""
    vertices = ob.data.vertices
    return values_of(vertices, "select", bool) & ~values_of(vertices, "hide", bool)


def write_in_edit_mode(ob, rows, names, with_group, bones, vertices):
    """Does the same as write_weights(), for an object in Edit mode."""
    groups, new_groups = make_groups(ob, names, with_group)
    owner, group, weight = wanted_entries(rows, bones, vertices, groups)
    written = set(groups[bones & (groups >= 0)].tolist())
    edited = bmesh.from_edit_mesh(ob.data)
    edited.verts.ensure_lookup_table()
    layer = edited.verts.layers.deform.verify()
    edited.verts.ensure_lookup_table()
    changed = removed = 0
    wanted = {}
    for vertex, index, value in zip(owner.tolist(), group.tolist(), weight.tolist(), strict=True):
        wanted.setdefault(vertex, {})[index] = value
    for vertex in np.flatnonzero(vertices).tolist():
        entries, own = edited.verts[vertex][layer], wanted.get(vertex, {})
        for index in [i for i in entries.keys() if i in written and i not in own]:  # noqa: SIM118
            del entries[index]
            removed += 1
        for index, value in own.items():
            if entries.get(index) != value:
                entries[index] = value
                changed += 1
    bmesh.update_edit_mesh(ob.data, loop_triangles=False, destructive=False)
    if changed or removed:
        mark_centers_old(ob)
    return {"changed": changed, "removed": removed, "new_groups": new_groups}
