"""Prepares a character for an exporter: selected alone, with the influences that a game engine
reads, and without bones that only control the rig. Afterwards everything is restored."""

from contextlib import contextmanager

import bpy
import numpy as np

from ...blender.read.control_bones import is_left_out
from ...blender.read.read_mesh import group_entries
from ...blender.write.all_or_nothing import put_entries_back


@contextmanager
def as_exported(context, armature, meshes, most):
    """with as_exported(...) as facts: in the block the exporter is called. most: influences of a
    vertex. facts: {"bones": (deform bones that are exported, all bones), "limited": vertices that
    had more influences}."""
    limited, kept = {}, {}
    selected = list(context.selected_objects)
    active, hidden = context.view_layer.objects.active, _hidden(armature, meshes)
    off = [bone.name for bone in armature.data.bones if bone.use_deform and is_left_out(bone)]
    try:
        _set_deform(armature, off, False)
        for ob in meshes:
            if ob.data.name not in kept:
                kept[ob.data.name] = ob, group_entries(ob.data)
                limited[ob.data.name] = _limit(ob, armature, most)
        for ob in selected:
            ob.select_set(False)
        for ob in (armature, *meshes):
            ob.hide_set(False)
            ob.select_set(True)
        context.view_layer.objects.active = armature
        context.view_layer.update()
        deform = sum(bone.use_deform for bone in armature.data.bones)
        yield {
            "bones": (deform, len(armature.data.bones)),
            "limited": sum(limited.values()),
        }
    finally:
        for name, (ob, entries) in kept.items():
            if limited.get(name):
                put_entries_back(ob, entries)
        _set_deform(armature, off, True)
        for ob in (armature, *meshes):
            ob.select_set(False)
            ob.hide_set(ob.name in hidden)
        for ob in selected:
            ob.select_set(True)
        context.view_layer.objects.active = active
        context.view_layer.update()


def _hidden(armature, meshes):
    return {ob.name for ob in (armature, *meshes) if ob.hide_get()}


def _set_deform(armature, names, deform):
    for name in names:
        armature.data.bones[name].use_deform = deform


def _limit(ob, armature, most):
    """How many vertices had more influences of deform bones than that; they keep the largest, which
    sum to what all did. Groups that are not bones stay."""
    bones = armature.data.bones
    is_bone = [group.name in bones and bones[group.name].use_deform for group in ob.vertex_groups]
    is_bone = np.array([*is_bone, False])
    vertices, groups, weights = group_entries(ob.data)
    weights = weights.astype(np.float64)
    own = is_bone[np.minimum(groups, len(is_bone) - 1)] & (weights > 0)
    place = np.flatnonzero(own)
    order = place[np.lexsort([groups[place], -weights[place], vertices[place]])]
    at = vertices[order]
    first = np.ones(len(order), bool)
    first[1:] = at[1:] != at[:-1]
    start = np.maximum.accumulate(np.where(first, np.arange(len(order)), 0))
    rank = np.arange(len(order)) - start
    many = np.unique(at[rank >= most])
    if not len(many):
        return 0
    n = len(ob.data.vertices)
    whole = np.bincount(at, weights[order], n)
    stays = order[rank < most]
    left = np.bincount(vertices[stays], weights[stays], n)
    share = np.ones(n)
    share[many] = whole[many] / left[many]
    weights[stays] *= share[vertices[stays]]
    keep = np.ones(len(weights), bool)
    keep[order[rank >= most]] = False
    put_entries_back(ob, (vertices[keep], groups[keep], weights[keep]))
    return len(many)


def exporter_of(kind):
    """Blender's exporter of "gltf" or "fbx", None if its add-on is off."""
    return getattr(bpy.ops.export_scene, kind) if kind in dir(bpy.ops.export_scene) else None
