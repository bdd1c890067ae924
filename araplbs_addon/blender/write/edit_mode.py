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
    changed, removed = set_edited_entries(ob, (owner, group, weight), vertices, written)
    if changed or removed:
        mark_centers_old(ob)
    return {"changed": changed, "removed": removed, "new_groups": new_groups}


def set_edited_entries(ob, entries, vertices, written):
    """Replaces the entries of vertices (n,) bool in the groups `written` by entries (vertices,
    groups, weights). Returns the numbers of changed and removed entries."""
    edited = bmesh.from_edit_mesh(ob.data)
    layer = edited.verts.layers.deform.verify()
    edited.verts.ensure_lookup_table()
    changed = removed = 0
    wanted = {}
    for vertex, group, weight in zip(*(each.tolist() for each in entries), strict=True):
        wanted.setdefault(vertex, {})[group] = weight
    for vertex in np.flatnonzero(vertices).tolist():
        present, own = edited.verts[vertex][layer], wanted.get(vertex, {})
        for group in [g for g in present.keys() if g in written and g not in own]:  # noqa: SIM118
            del present[group]
            removed += 1
        for group, weight in own.items():
            if present.get(group) != weight:
                present[group] = weight
                changed += 1
    bmesh.update_edit_mesh(ob.data, loop_triangles=False, destructive=False)
    return changed, removed
