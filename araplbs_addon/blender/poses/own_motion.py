"""Finds the action that Range of Motion created for an armature, and decides whether it may be
replaced.

The armature and the action carry the same mark, which is unique to each run, so the armature may be
renamed. The action also stores its name and a digest of its keys and markers. A copied action has
another name, and an edited action has other keys. Both belong to the user. An action with users
other than this armature also belongs to the user. Any other action can be removed without loss,
because the run that removes it creates it again."""

import hashlib
import secrets

import bpy
import numpy as np

from ..data.mesh_shape import values_of
from .pose_sources import action_curves

OF_0_2 = "araplbs_motion"  # custom property of an action: its armature's name, until 0.2.0


class ARAPLBS_motion(bpy.types.PropertyGroup):
    """The mark of an action. mark: the mark of the action's armature. made_as: the name that the
    action was given. content: the result of content_of() at that time."""

    mark: bpy.props.StringProperty(options={"HIDDEN"})
    made_as: bpy.props.StringProperty(options={"HIDDEN"})
    content: bpy.props.StringProperty(options={"HIDDEN"})


def mark_motion(action, armature):
    """Records that the action, in its current form, was created for this armature."""
    made = action.araplbs_motion_of
    made.mark = armature.araplbs_motion_mark = secrets.token_hex(8)
    made.made_as, made.content = action.name, content_of(action)


def is_motion_of(action, armature):
    """Whether the action was created for this armature. The action may have been edited since
    then."""
    mark = action.araplbs_motion_of.mark
    if mark:
        return mark == armature.araplbs_motion_mark
    return action.get(OF_0_2) == armature.name


def replaceable(armature, new):
    """The actions that were created for this armature and contain no user edits. new: the action
    that takes their place. Actions from version 0.2.0 have no digest, so they must equal the new
    one."""
    of_armature = [a for a in bpy.data.actions if a != new and is_motion_of(a, armature)]
    alone = sum(ob.araplbs_motion_mark == armature.araplbs_motion_mark for ob in bpy.data.objects)
    actions = []
    for action in of_armature:
        users = bpy.data.user_map(subset={action})[action]
        if users - {armature} or not (users or alone == 1):
            continue
        if not (action.library or action.asset_data) and _is_as_made(action, armature, new):
            actions.append(action)
    return actions


def _is_as_made(action, armature, new):
    made = action.araplbs_motion_of
    if made.mark:
        return action.name == made.made_as and content_of(action) == made.content
    is_named_so = action.name == f"{armature.name} Range of Motion"
    return is_named_so and content_of(action) == content_of(new)


def content_of(action):
    """A digest of all keys and markers. The positions of automatic handles follow from the keys."""
    digest = hashlib.blake2b(digest_size=16)
    for slot, curve in action_curves(action):
        points = curve.keyframe_points
        facts = slot and slot.identifier, curve.data_path, curve.array_index, len(points)
        facts += curve.extrapolation, curve.mute, curve.lock, len(curve.modifiers)
        digest.update(repr(facts).encode())
        for name, width, kind in (
            ("co", 2, np.float32),
            ("interpolation", 1, np.int32),
            ("handle_left_type", 1, np.int32),
            ("handle_right_type", 1, np.int32),
        ):
            digest.update(values_of(points, name, kind, width).tobytes())
    for marker in action.pose_markers:
        digest.update(repr((marker.name, marker.frame)).encode())
    return digest.hexdigest()


CLASSES = (ARAPLBS_motion,)
PROPERTIES = (
    (bpy.types.Action, "araplbs_motion_of", bpy.props.PointerProperty(type=ARAPLBS_motion)),
    (bpy.types.Object, "araplbs_motion_mark", bpy.props.StringProperty(options={"HIDDEN"})),
)
