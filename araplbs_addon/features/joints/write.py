"""Writes heads and tails of bones, which requires entering and leaving the armature's Edit mode.

Blender rebuilds all bones when it leaves Edit mode, so even the last bits of unmoved bones can
change.
"""

import numpy as np
from araplbs.features.joints.moved_joints import moved_bones
from mathutils import Vector

from ...blender.write.edit_bones import editing


def write_joints(armature, before, after):
    """Moves the bones from a core Skeleton `before` to `after`.

    The Z axis of a moved bone becomes the axis nearest to after.roll_axes. Raises Refused, without
    writing anything, if Blender does not allow the armature to be edited.
    """
    moved = moved_bones(before, after)
    if not moved.any():
        return
    with editing(armature) as edit_bones:
        _move(edit_bones, after, np.flatnonzero(moved).tolist())


def _move(edit_bones, after, moved):
    """Writes the joints of these bones. If writing fails, nothing is changed."""
    bones = [edit_bones[after.names[i]] for i in moved]
    were = [(bone.head.copy(), bone.tail.copy(), bone.roll) for bone in bones]
    try:
        for i, bone in zip(moved, bones, strict=True):
            bone.head, bone.tail = after.heads[i], after.tails[i]
        # Only after all bones are in place, because connected bones move with their parents.
        for i, bone in zip(moved, bones, strict=True):
            bone.align_roll(Vector(after.roll_axes[i]))
    except BaseException:
        for bone, (head, tail, roll) in zip(bones, were, strict=True):
            bone.head, bone.tail, bone.roll = head, tail, roll
        raise
