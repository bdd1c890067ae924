"""Writes heads and tails of bones: Edit mode of their armature is entered for it and left again.

Blender rebuilds all bones when it leaves Edit mode, so even unmoved bones can change in the last
bits.
"""

import numpy as np
from araplbs.features.joints.moved_joints import moved_bones
from mathutils import Vector

from ...blender.write.edit_bones import editing


def write_joints(armature, before, after):
    """Makes the bones of a core Skeleton `before` those of `after`.

    The Z axis of a moved bone becomes the one nearest to after.roll_axes. Raises Refused, with
    nothing written, when Blender does not let the armature be edited.
    """
    moved = moved_bones(before, after)
    if not moved.any():
        return
    with editing(armature) as edit_bones:
        _move(edit_bones, after, np.flatnonzero(moved).tolist())


def _move(edit_bones, after, moved):
    """Writes the joints of these bones; changes nothing if it fails."""
    bones = [edit_bones[after.names[i]] for i in moved]
    were = [(bone.head.copy(), bone.tail.copy(), bone.roll) for bone in bones]
    try:
        for i, bone in zip(moved, bones, strict=True):
            bone.head, bone.tail = after.heads[i], after.tails[i]
        # Only when all are in place: connected bones move with their parents.
        for i, bone in zip(moved, bones, strict=True):
            bone.align_roll(Vector(after.roll_axes[i]))
    except BaseException:
        for bone, (head, tail, roll) in zip(bones, were, strict=True):
            bone.head, bone.tail, bone.roll = head, tail, roll
        raise
