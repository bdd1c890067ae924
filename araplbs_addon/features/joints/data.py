"""Stores an artist's settings for individual joints in the bones, so they are saved with the
file."""

import bpy
import numpy as np
from bpy.props import BoolProperty, FloatProperty, PointerProperty

# Bones and edit bones have the same properties; Blender copies the values when the mode changes.
OWNERS = (bpy.types.Bone, bpy.types.EditBone)


class ARAPLBS_joint(bpy.types.PropertyGroup):
    lock_head: BoolProperty(
        name="Lock Head",
        description="Optimize Joints does not move the head, nor any joint at the same position",
    )
    lock_tail: BoolProperty(
        name="Lock Tail",
        description="Optimize Joints does not move the tail, nor any joint at the same position",
    )
    material: FloatProperty(
        name="Stiffness Factor",
        description="Factor for the joint stiffness at this bone's ends. Where bones meet, the "
        "largest factor applies",
        default=1.0,
        min=0.0,
        max=1e3,
        soft_max=100.0,
    )


def read_joint_settings(armature, names):
    """Returns (locks (m, 2) bool of heads and tails, factors (m,)) of these bones."""
    settings = [armature.data.bones[name].araplbs_joint for name in names]
    locks = np.array([(joint.lock_head, joint.lock_tail) for joint in settings], bool)
    return locks, np.array([joint.material for joint in settings], np.float64)


CLASSES = (ARAPLBS_joint,)
PROPERTIES = tuple(
    (owner, "araplbs_joint", PointerProperty(type=ARAPLBS_joint)) for owner in OWNERS
)
