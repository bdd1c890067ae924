"""Writes weights into vertex groups, touching only the entries that change, or all entries at once.

bmesh writes all entries to a mesh of points in a third of the time that writing to the groups of
the mesh itself would take. Blender then copies groups and entries from this temporary mesh and
changes nothing else. Python references to the groups are invalid afterwards."""

from contextlib import contextmanager

import bmesh
import bpy
import numpy as np
from araplbs.model.group_entries import (
    are_plain,
    batches,
    difference,
    in_order,
    merged,
    present_entries,
    runs,
    wanted_entries,
)

from ..data.binding import mark_centers_old
from ..data.group_uses import used_groups
from ..data.references import remove_made
from ..read.read_mesh import group_entries


def write_at_once(ob, vertices, groups, weights):
    """Replaces the entries of an object with these entries. Vertices must be ascending, and the
    entries of each vertex keep this order. Returns False, without any change, if Blender cannot
    write them in the current context."""
    with _points_like(ob) as points:
        _give(points.data, vertices, groups, weights)
        context = {
            "object": points,
            "active_object": points,
            "selected_editable_objects": [points, ob],
        }
        try:
            with bpy.context.temp_override(**context):
                return bpy.ops.object.vertex_group_copy_to_selected() == {"FINISHED"}
        except RuntimeError:  # operators cannot run in this context
            return False


@contextmanager
def _points_like(ob):
    """Yields a new object with as many vertices as `ob` and with the same vertex groups, and
    removes the new object afterwards."""
    mesh = bpy.data.meshes.new(ob.data.name)
    points = bpy.data.objects.new(ob.name, mesh)
    try:
        mesh.vertices.add(len(ob.data.vertices))
        for group in ob.vertex_groups:
            points.vertex_groups.new(name=group.name).lock_weight = group.lock_weight
        if len(ob.vertex_groups):
            points.vertex_groups.active_index = ob.vertex_groups.active_index
        yield points
    finally:
        remove_made(points, mesh)


def _give(mesh, vertices, groups, weights):
    made = bmesh.new()
    try:
        made.from_mesh(mesh)
        layer = made.verts.layers.deform.verify()
        made.verts.ensure_lookup_table()
        every, last, entries = made.verts, -1, None
        for vertex, group, weight in zip(
            vertices.tolist(), groups.tolist(), weights.tolist(), strict=True
        ):
            if vertex != last:
                entries, last = every[vertex][layer], vertex
            entries[group] = weight
        made.to_mesh(mesh)
    finally:
        made.free()


AT_ONCE = 3000  # changed entries: at this number or above, all entries are written at once


def write_weights(ob, rows, names, with_group, bones, vertices, entries=None):
    """Replaces the weights of an object with the weights in `rows`. Returns a dictionary that
    describes the changes.

    names: the names of all bones. with_group (m,) bool: bones that receive a group if they have
    none. bones (m,) bool: bones whose groups are written. vertices (n,) bool: vertices that are
    written. entries: the group_entries() of the object, if the caller has them. A bone without a
    group has no weights in `rows`. All other entries stay unchanged.
    """
    has_groups = len(ob.vertex_groups) > 0
    groups, new_groups = make_groups(ob, names, with_group)
    wanted = wanted_entries(rows, bones, vertices, groups)
    # Without groups, no entries are visible, because only files can contain entries without a
    # group.
    bare = not has_groups and vertices.all() and len(wanted[0]) >= AT_ONCE
    if bare and write_at_once(ob, *in_order(*wanted)):
        mark_centers_old(ob)
        return {"changed": len(wanted[0]), "removed": 0, "new_groups": new_groups}
    whole = entries is not None or vertices.all()  # the entries of all vertices
    if entries is None:
        entries = group_entries(ob.data, None if whole else np.flatnonzero(vertices))
    present = present_entries(len(ob.vertex_groups), bones, vertices, groups, entries)
    changed, removed = difference(wanted, present)

    if len(changed[0]) or len(removed[0]):
        mark_centers_old(ob)
    many = whole and len(changed[0]) >= AT_ONCE and are_plain(entries, len(ob.vertex_groups))
    if not many or not write_at_once(ob, *merged(entries, changed, removed)):
        _write_one_by_one(ob, entries, changed, removed)
    return {"changed": len(changed[0]), "removed": len(removed[0]), "new_groups": new_groups}


def _write_one_by_one(ob, entries, changed, removed):
    bare = np.ones(len(ob.data.vertices), bool)
    bare[entries[0]] = False
    bare = bare[changed[0]]
    _fill(ob, *(each[bare] for each in changed))
    add = [group.add for group in ob.vertex_groups]
    for group, weight, members in batches(*(each[~bare] for each in changed)):
        add[group](members, weight, "REPLACE")
    for group, members in runs(removed[1], removed[0]):
        ob.vertex_groups[group].remove(members.tolist())


def make_groups(ob, names, with_group):
    """Adds the missing groups of the bones `with_group`. Returns (m,) the group index of each bone,
    -1 for none, and the number of new groups."""
    active = ob.vertex_groups.active_index
    had_groups = len(ob.vertex_groups) > 0
    index = {group.name: group.index for group in ob.vertex_groups}
    missing = [n for n, wanted in zip(names, with_group, strict=True) if wanted and n not in index]
    for name in missing:
        index[name] = ob.vertex_groups.new(name=name).index
    if missing:
        ob.vertex_groups.active_index = active if had_groups else 0
    return np.array([index.get(name, -1) for name in names]), len(missing)


def drop_groups(ob, armature, names):
    """Removes the groups with these names, unless something other than the armature uses them.
    Returns the names of the groups that stay."""
    used, present = used_groups(ob, armature), [name for name in names if name in ob.vertex_groups]
    for name in set(present) - used:
        ob.vertex_groups.remove(ob.vertex_groups[name])
    return [name for name in present if name in used]


def _fill(ob, vertices, groups, weights):
    """Adds entries to vertices that have no entries: first with one call per group, then with one
    call per vertex, because Blender keeps entries in the order in which they are added."""
    for group, members in runs(groups, vertices):
        ob.vertex_groups[group].add(members.tolist(), 1.0, "REPLACE")
    part = np.isin(vertices, vertices[weights != 1])
    vertices, groups, weights = (each[part] for each in (vertices, groups, weights))
    order = np.lexsort((groups, vertices))
    vertices, weights, every = vertices[order], weights[order].tolist(), ob.data.vertices
    begins = np.flatnonzero(np.diff(vertices, prepend=-1))
    ends = np.append(begins, len(vertices))[1:]
    for vertex, begin, end in zip(
        vertices[begins].tolist(), begins.tolist(), ends.tolist(), strict=True
    ):
        every[vertex].groups.foreach_set("weight", weights[begin:end])
