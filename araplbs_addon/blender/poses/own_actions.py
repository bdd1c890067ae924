"""Poses from the actions that a file contains for an armature, which are the poses its animator
will use."""

import numpy as np
from araplbs.base.refusal import Refused

from .pose_sources import action_curves, clips
from .read_poses import read_poses

MOST_FRAMES = 24  # of all actions together, as many as the random poses that measure a result
BY_HAND = 1e-4  # a value that differs more from its curve was set by hand
MOVED = 0.02  # entries of all transforms; a pose with less motion does not count


def poses_of_actions(armature, skeleton, view_layer):
    """The Poses, or None if nothing can be played. Actions of linked armatures cannot be played. If
    the armature is posed by hand over its own action, other actions are not played either, because
    the next undo would restore that state."""
    if armature.library or armature.override_library or not clips(armature):
        return None
    if _is_posed_by_hand(armature, view_layer.id_data.frame_current_final):
        return None
    try:
        poses = read_poses(armature, skeleton, "ALL", MOST_FRAMES, view_layer)
    except Refused:  # such as in NLA tweak mode
        return None
    moves = np.abs(poses.transforms - np.eye(4)[:3]).max((1, 2, 3), initial=0) > MOVED
    return poses[moves] if moves.any() else None


def _is_posed_by_hand(armature, frame):
    """Whether values differ from the curves of the action being played. Strips blend, so they count
    as posed by hand."""
    data = armature.animation_data
    if data is None:
        return False
    if data.use_nla and any(
        not strip.mute for track in data.nla_tracks if not track.mute for strip in track.strips
    ):
        return True
    own = getattr(data, "action_slot", None)
    return any(
        abs(_value(armature, curve) - curve.evaluate(frame)) > BY_HAND
        for slot, curve in (action_curves(data.action) if data.action else ())
        if slot == own and not curve.mute
    )


def _value(armature, curve):
    """The current value of the property that the curve moves; NaN if it is not a number or no
    longer exists."""
    try:
        value = armature.path_resolve(curve.data_path)
        return float(value[curve.array_index] if hasattr(value, "__len__") else value)
    except (ValueError, TypeError, IndexError):
        return np.nan
