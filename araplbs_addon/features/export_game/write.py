"""Prepares a character for an exporter: selects only the character, limits the influences to the
number that a game engine reads, and leaves out bones that only control the rig. Everything is
restored afterwards."""

from contextlib import contextmanager

import bpy
from araplbs.features.export_game import limited

from ...blender.read.control_bones import is_left_out
from ...blender.read.read_mesh import group_entries
from ...blender.write.all_or_nothing import put_entries_back


@contextmanager
def as_exported(context, armature, meshes, most):
    """`with as_exported(...) as facts`: the exporter must be called in this block. most: the
    maximum number of influences per vertex. facts: {"bones": (exported deform bones, all bones),
    "limited": vertices that had more influences}."""
    counts, kept = {}, {}
    selected = list(context.selected_objects)
    active = context.view_layer.objects.active
    hidden = {ob.name for ob in (armature, *meshes) if ob.hide_get()}
    off = [bone.name for bone in armature.data.bones if bone.use_deform and is_left_out(bone)]
    try:
        _set_deform(armature, off, False)
        for ob in meshes:
            if ob.data.name not in kept:
                kept[ob.data.name] = ob, group_entries(ob.data)
                counts[ob.data.name] = _limit(ob, armature, most)
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
            "limited": sum(counts.values()),
        }
    finally:
        for name, (ob, entries) in kept.items():
            if counts.get(name):
                put_entries_back(ob, entries)
        _set_deform(armature, off, True)
        for ob in (armature, *meshes):
            ob.select_set(False)
            ob.hide_set(ob.name in hidden)
        for ob in selected:
            ob.select_set(True)
        context.view_layer.objects.active = active
        context.view_layer.update()


def _set_deform(armature, names, deform):
    for name in names:
        armature.data.bones[name].use_deform = deform


def _limit(ob, armature, most):
    """Limits the influences of deform bones, and returns the number of vertices that had more than
    `most`."""
    bones = armature.data.bones
    is_bone = [group.name in bones and bones[group.name].use_deform for group in ob.vertex_groups]
    entries, count = limited(group_entries(ob.data), is_bone, most, len(ob.data.vertices))
    if count:
        put_entries_back(ob, entries)
    return count


def exporter_of(kind):
    """Blender's exporter for "gltf" or "fbx"; None if its add-on is disabled."""
    return getattr(bpy.ops.export_scene, kind) if kind in dir(bpy.ops.export_scene) else None
