"""Provides a context manager that writes weights completely or not at all."""

from contextlib import contextmanager

import bmesh
import numpy as np

from ..data.binding import CENTERS_OLD
from ..data.object_targets import constraints_of
from ..data.ours import is_ours, mark_ours
from ..read.read_mesh import group_entries

OF_MODIFIER = ("show_viewport", "show_render")
OF_ARMATURE_MODIFIER = (*OF_MODIFIER, "object", "use_deform_preserve_volume")

# Functions to call with (object, group names, group_entries()) when an artist's weights are
# replaced permanently.
on_replaced = []


@contextmanager
def all_or_nothing(objects, armature=None, made=True, keeps=True, stroke=False):
    """Yields the group_entries() of the meshes, None for meshes in Edit mode and meshes without
    groups. If an exception leaves the block, the weights of these meshes, their binding to an
    armature and the marks of the armature's bones are restored. Otherwise, the meshes lose the mark
    of the Auto-weight whose weights they displayed, because their weights have changed. keeps:
    whether to call on_replaced, for callers that do not keep the earlier weights. on_replaced is
    never called for a mesh in Edit mode, whose own undo keeps the earlier weights. made: whether
    the new weights are ours rather than an artist's; None: as before. stroke: whether the change is
    like a stroke of a brush, after which the meshes keep the mark."""
    meshes = [_Mesh(ob) for ob in objects]
    bones = armature.data.bones if armature else ()
    marks = [bone.araplbs_control for bone in bones]
    were_ours = [is_ours(ob) for ob in objects]
    ours = were_ours if made is None else [made] * len(meshes)
    try:
        yield [None if mesh.edited or not mesh.groups else mesh.entries for mesh in meshes]
        for mesh, were in zip(meshes, were_ours, strict=True):
            for tell in on_replaced if keeps and not (were or mesh.edited) else ():
                tell(mesh.ob, mesh.names, mesh.entries)
    except BaseException:
        for mesh in meshes:
            mesh.put_back()
        for bone, mark in zip(bones, marks, strict=True):
            if bone.araplbs_control != mark:
                bone.araplbs_control = mark
        raise
    for ob, made_by_us in zip(objects, ours, strict=True):
        if not stroke:
            ob.data.araplbs.weighting = ""
        mark_ours(ob, made_by_us)


class _Mesh:
    def __init__(self, ob):
        self.ob = ob
        self.names = [group.name for group in ob.vertex_groups]
        self.groups = set(self.names)
        self.active = ob.vertex_groups.active_index
        self.edited = ob.mode == "EDIT"
        self.entries = _edited_entries(ob) if self.edited else _entries(ob)
        self.were_old = CENTERS_OLD in ob.data
        self.parent = ob.parent, ob.parent_type, ob.parent_bone, ob.matrix_parent_inverse.copy()
        self.modifiers = {m.name: _of_modifier(m) for m in ob.modifiers}
        self.mutes = [constraint.mute for constraint in constraints_of(ob)]

    def put_back(self):
        ob = self.ob
        if not self.were_old:
            ob.data.pop(CENTERS_OLD, None)
        for modifier in list(ob.modifiers):
            if modifier.name not in self.modifiers:
                ob.modifiers.remove(modifier)
        for modifier in ob.modifiers:
            for name, value in self.modifiers[modifier.name].items():
                setattr(modifier, name, value)
        for constraint, mute in zip(constraints_of(ob), self.mutes, strict=True):
            constraint.mute = mute
        ob.parent, ob.parent_type, ob.parent_bone, ob.matrix_parent_inverse = self.parent
        for group in list(ob.vertex_groups):
            if group.name not in self.groups:
                ob.vertex_groups.remove(group)
        if ob.vertex_groups:
            ob.vertex_groups.active_index = self.active
        (_put_edited_back if ob.mode == "EDIT" else put_entries_back)(ob, self.entries)


def _entries(ob):
    """The group_entries() of a mesh. Nothing is read for a mesh without groups."""
    return group_entries(ob.data, None if ob.vertex_groups else np.zeros(0, int))


def _of_modifier(modifier):
    names = OF_ARMATURE_MODIFIER if modifier.type == "ARMATURE" else OF_MODIFIER
    return {name: getattr(modifier, name) for name in names}


def put_entries_back(ob, entries):
    """Replaces the weights of an object with these group_entries(), in the given order, which
    Blender preserves."""
    every = range(len(ob.data.vertices))
    for group in ob.vertex_groups:
        group.remove(every)
    add = [group.add for group in ob.vertex_groups]
    for vertex, group, weight in zip(*(each.tolist() for each in entries), strict=True):
        if group < len(add):  # files can contain entries of groups that are no longer in the list
            add[group]((vertex,), weight, "REPLACE")


def _edited_entries(ob):
    edited = bmesh.from_edit_mesh(ob.data)
    layer = edited.verts.layers.deform.verify()
    return [vertex[layer].items() for vertex in edited.verts]


def _put_edited_back(ob, entries):
    edited = bmesh.from_edit_mesh(ob.data)
    layer = edited.verts.layers.deform.verify()
    for vertex, own in zip(edited.verts, entries, strict=True):
        now = vertex[layer]
        now.clear()
        for group, weight in own:
            now[group] = weight
    bmesh.update_edit_mesh(ob.data, loop_triangles=False, destructive=False)
