"""Selects bones in the current mode of the armature."""

import bpy
from araplbs.base.refusal import Refused

from ..data.bones import bone_flags


def select_bones(context, armature, names):
    """Selects only these bones, and switches from Object mode to Pose mode if necessary. Raises
    Refused if the armature cannot be posed now."""
    if not armature.visible_get():
        raise Refused(f"'{armature.name}' is hidden")
    if armature.mode == "EDIT":
        raise Refused(f"'{armature.name}' is in Edit mode")
    if context.mode == "OBJECT":
        armature.select_set(True)
        context.view_layer.objects.active = armature
        bpy.ops.object.mode_set(mode="POSE")
    for flag in bone_flags(armature):
        flag.select = flag.name in names
    first = next((bone for bone in armature.data.bones if bone.name in names), None)
    armature.data.bones.active = first
