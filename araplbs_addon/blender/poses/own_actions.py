"""Reads poses from the actions that a file contains for an armature, because these are poses that
its animator will use."""

import numpy as np
from araplbs.base.refusal import Refused

from .pose_sources import clips
from .read_poses import read_poses

MOST_FRAMES = 24  # for all actions together: the number of random poses that measure a result
MOVED = 0.02  # entries of all transforms; a pose with less motion does not count


def poses_of_actions(armature, skeleton, view_layer):
    """The Poses; None without actions that move bones."""
    if not clips(armature):
        return None
    try:
        poses = read_poses(armature, skeleton, "ALL", MOST_FRAMES, view_layer)
    except Refused:  # such as poses that are not finite
        return None
    moves = np.abs(poses.transforms - np.eye(4)[:3]).max((1, 2, 3), initial=0) > MOVED
    return poses[moves] if moves.any() else None
