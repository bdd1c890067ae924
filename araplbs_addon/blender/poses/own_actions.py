"""Poses from the actions that a file has for an armature, which its animator will see."""

import numpy as np
from araplbs.base.refusal import Refused

from .pose_sources import clips
from .read_poses import read_poses

MOST_FRAMES = 24  # of all actions together: as many as random poses that a result is measured in
MOVED = 0.02  # entries of all transforms; a pose that moves less is as good as none


def poses_of_actions(armature, skeleton, view_layer):
    """The Poses, None without any. Actions of linked armatures cannot be played."""
    if armature.library or armature.override_library or not clips(armature):
        return None
    try:
        poses = read_poses(armature, skeleton, "ALL", MOST_FRAMES, view_layer)
    except Refused:  # such as NLA tweak mode: it is only to be looked at
        return None
    moves = np.abs(poses.transforms - np.eye(4)[:3]).max((1, 2, 3), initial=0) > MOVED
    return poses[moves] if moves.any() else None
