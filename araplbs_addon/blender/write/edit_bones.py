"""Enters Edit mode of an armature to change its bones, and leaves it again."""

from contextlib import contextmanager

import bpy
from araplbs.base.refusal import Refused

from ..data.bones import bone_flags
from ..data.references import words_of

ENDS = ("select_head", "select_tail")  # properties of a bone, before Blender 5.0


@contextmanager
def editing(armature):
    """Yields the edit bones of an armature. The mode, the selection and the options are restored at
    the end."""
    layer = bpy.context.view_layer
    if armature.name not in layer.objects:
        raise Refused(f"'{armature.name}' is not in the active view layer")
    active, mode = layer.objects.active, layer.objects.active and layer.objects.active.mode
    selected = [ob for ob in layer.objects if ob.select_get()]
    posed = [ob for ob in layer.objects if ob.mode == "POSE"]
    hidden = armature.hide_viewport
    data = armature.data
    mirror, bones_selected = data.use_mirror_x, _bone_selection(armature)
    try:
        if mode and mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        armature.hide_viewport = False
        _select(layer, [armature], armature)
        data.use_mirror_x = False
        try:
            bpy.ops.object.mode_set(mode="EDIT")
        except RuntimeError as error:
            raise Refused(f"'{armature.name}' cannot be edited: {words_of(error)}") from None
        yield data.edit_bones
    finally:
        if armature.mode == "EDIT":
            bpy.ops.object.mode_set(mode="OBJECT")
        data.use_mirror_x = mirror
        _put_back_selection(armature, *bones_selected)
        armature.hide_viewport = hidden
        _select(layer, posed or selected, active)
        if active and mode and active.mode != mode:
            bpy.ops.object.mode_set(mode=mode)
        _select(layer, selected, active)


def _select(layer, objects, active):
    for ob in layer.objects:
        if ob.select_get() != (ob in objects):
            ob.select_set(ob in objects)
    layer.objects.active = active


def _bone_selection(armature):
    """(name of the active bone, [(name, selected, head, tail)])."""
    active = armature.data.bones.active
    selection = [
        (bone.name, flag.select, *(getattr(bone, end, None) for end in ENDS))
        for bone, flag in zip(armature.data.bones, bone_flags(armature), strict=True)
    ]
    return active and active.name, selection


def _put_back_selection(armature, active, selection):
    bones, flags = armature.data.bones, {flag.name: flag for flag in bone_flags(armature)}
    for name, own, *ends in selection:
        bone = bones.get(name)
        if not bone:  # it was removed
            continue
        if flags[name].select != own:
            flags[name].select = own
        for end, was in zip(ENDS, ends, strict=True):
            if was is not None and getattr(bone, end) != was:
                setattr(bone, end, was)
    if active is None or (bones.active and bones.active.name != active):
        bones.active = bones.get(active) if active else None
