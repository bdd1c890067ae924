"""The selected and the visible bones of an armature."""

import bpy
import numpy as np

# Types of constraints. Bones with these alone can still be posed.
LEAVE_FREE = {
    *("LIMIT_ROTATION", "LIMIT_LOCATION", "LIMIT_SCALE", "LIMIT_DISTANCE", "MAINTAIN_VOLUME"),
    *("CHILD_OF", "ARMATURE", "FLOOR", "PIVOT", "SHRINKWRAP"),
}


def selected_bones(armature):
    """Names of the bones that are selected in the mode that the armature is in."""
    flags = armature.data.edit_bones if armature.mode == "EDIT" else bone_flags(armature)
    return [flag.name for flag in flags if flag.select]


def bones_to_lock(armature):
    """(m,) bool: all bones except those that are visible and selected, if the armature is in Pose
    mode and some are."""
    selected = chosen_bones(armature)
    return ~selected if selected.any() else np.zeros(len(selected), bool)


def chosen_bones(armature):
    """(m,) bool: bones that are visible and selected in Pose mode; in other modes none."""
    selected = np.array([flag.select for flag in bone_flags(armature)], bool)
    return selected & visible_bones(armature) & (armature.mode == "POSE")


def visible_bones(armature):
    """(m,) bool: neither hidden themselves nor in hidden collections alone."""
    bones, flags = armature.data.bones, bone_flags(armature)
    return np.array(
        [
            not flag.hide
            and (not bone.collections or any(c.is_visible_effectively for c in bone.collections))
            for bone, flag in zip(bones, flags, strict=True)
        ]
    )


def bone_flags(armature):
    """The holder of `select` and `hide` of each bone outside Edit mode, in the order of the bones:
    until 4.x the bones of the armature, since 5.0 those of the pose."""
    bones = armature.data.bones
    if "select" in bpy.types.PoseBone.bl_rna.properties:
        return [armature.pose.bones[bone.name] for bone in bones]
    return bones
