"""Creates an action with keys and markers for an armature."""

import bpy
from araplbs.base.refusal import Refused

from ..data.bones import bone_path
from .own_motion import mark_motion, replaceable
from .pose_sources import play_action

BEZIER, AUTO_CLAMPED = 2, 4  # values for foreach_set()
CONSTANT = 0


def refuse_action(armature):
    """Raises Refused if the armature cannot be given an action."""
    if armature.library or armature.override_library:
        raise Refused(f"'{armature.name}' belongs to another file")
    if armature.mode == "EDIT":
        raise Refused(f"'{armature.name}' is in Edit mode")
    data = armature.animation_data
    if data and data.use_tweak_mode:
        raise Refused(f"'{armature.name}' is in NLA tweak mode: exit tweak mode first")


def write_action(armature, name, curves, markers):
    """Returns (the action, the name of the action that was played before or None).

    curves: [(bone or path, property, index, frames, values)], beginning with the switches, which
    have no bone name. markers: [(name, frame)]. An earlier action created for this armature is
    removed if it is replaceable(), and the new action takes its place.
    """
    data = armature.animation_data or armature.animation_data_create()
    before = data.action
    action = bpy.data.actions.new(name)
    try:
        slot, bag = channels_of(action, armature)
        for each in curves:
            _write_curve(bag, *each)
        for marker, frame in markers:
            action.pose_markers.new(marker).frame = frame
    except BaseException:
        bpy.data.actions.remove(action)
        raise
    old = replaceable(armature, action)
    play_action(data, action, slot)
    is_gone = before is None or before in old
    for each in old:
        each.user_remap(action)
        bpy.data.actions.remove(each)
    action.name = name
    action.use_fake_user = True
    mark_motion(action, armature)
    if is_gone:
        return action, None
    before.use_fake_user = True
    return action, before.name


def channels_of(action, armature):
    """Returns (slot or None, the owner of the slot's curves). Actions have slots since 4.4."""
    if not hasattr(action, "layers"):
        return None, action
    slot = action.slots.new(id_type="OBJECT", name=armature.name)
    strip = action.layers.new("Layer").strips.new(type="KEYFRAME")
    return slot, strip.channelbag(slot, ensure=True)


def _write_curve(bag, bone, name, index, frames, values):
    is_switch = name.startswith("[")
    if is_switch:
        group, curve = "Switches", bag.fcurves.new(f"{bone}{name}")
    else:
        group, curve = bone, bag.fcurves.new(f"{bone_path(bone)}.{name}", index=index)
    curve.group = bag.groups.get(group) or bag.groups.new(group)
    points = curve.keyframe_points
    points.add(len(frames))
    points.foreach_set("co", [x for pair in zip(frames, values, strict=True) for x in pair])
    points.foreach_set("interpolation", [CONSTANT if is_switch else BEZIER] * len(frames))
    for side in ("handle_left_type", "handle_right_type"):
        points.foreach_set(side, [AUTO_CLAMPED] * len(frames))
    curve.update()
