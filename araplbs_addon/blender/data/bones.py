"""Finds the selected and visible bones of an armature, bones in data paths, and changes of the
bones at rest."""

import hashlib
import re

import bpy
import numpy as np

from .mesh_shape import values_of

# Types of constraints. A bone whose constraints are all of these types can still be posed.
LEAVE_FREE = {
    *("LIMIT_ROTATION", "LIMIT_LOCATION", "LIMIT_SCALE", "LIMIT_DISTANCE", "MAINTAIN_VOLUME"),
    *("CHILD_OF", "ARMATURE", "FLOOR", "PIVOT", "SHRINKWRAP"),
}
BONE = re.compile(r'\bbones\["((?:[^"\\]|\\.)+)"\]')


def bone_path(name):
    """The data path of a pose bone."""
    return f'pose.bones["{bpy.utils.escape_identifier(name)}"]'


def bone_in(path):
    """Name of the bone in a data path, or None."""
    match = BONE.search(path)
    return bpy.utils.unescape_identifier(match[1]) if match else None


def local_to_pose(bone, matrix, parent_matrix, invert=False):
    """Blender's convert_local_to_pose() for a bone whose parent, if any, is posed at parent_matrix.
    invert: from a matrix in armature space to the bone's own pose."""
    above = {}
    if bone.parent:
        above = {"parent_matrix": parent_matrix, "parent_matrix_local": bone.parent.matrix_local}
    return bone.convert_local_to_pose(matrix, bone.matrix_local, invert=invert, **above)


def selected_bones(armature):
    """Names of the bones that are selected in the current mode of the armature."""
    flags = armature.data.edit_bones if armature.mode == "EDIT" else bone_flags(armature)
    return [flag.name for flag in flags if flag.select]


def bones_to_lock(armature, names=()):
    """(m,) bool: all bones except those with these names or, without names, except the visible,
    selected ones, if the armature is in Pose mode and has such bones."""
    selected = chosen_bones(armature)
    if names:
        selected = np.array([bone.name in names for bone in armature.data.bones])
    return ~selected if selected.any() else np.zeros(len(selected), bool)


def chosen_bones(armature):
    """(m,) bool: bones that are visible and selected in Pose mode; no bones in other modes."""
    selected = np.array([flag.select for flag in bone_flags(armature)], bool)
    return selected & visible_bones(armature) & (armature.mode == "POSE")


def visible_bones(armature):
    """(m,) bool: bones that are neither hidden themselves nor only in hidden collections."""
    bones, flags = armature.data.bones, bone_flags(armature)
    return np.array(
        [
            not flag.hide
            and (not bone.collections or any(c.is_visible_effectively for c in bone.collections))
            for bone, flag in zip(bones, flags, strict=True)
        ]
    )


def upward(armature):
    """The axis of the armature that points up, (3,)."""
    up = np.array(armature.matrix_world.inverted_safe().to_3x3().col[2])
    axis = int(np.abs(up).argmax())
    return np.eye(3)[axis] * np.sign(up[axis])


def rest_digest(armature):
    """A digest of the deform bones and their rest positions."""
    bones, digest = armature.data.bones, hashlib.blake2b(digest_size=8)
    digest.update(values_of(bones, "use_deform", bool).tobytes())
    for end in ("head_local", "tail_local"):
        digest.update(values_of(bones, end, np.float32, 3).tobytes())
    return digest.digest()


def bone_flags(armature):
    """The holders of `select` and `hide` for each bone outside Edit mode, in bone order: the
    armature's bones before Blender 5.0, and the pose bones since then."""
    bones = armature.data.bones
    if "select" in bpy.types.PoseBone.bl_rna.properties:
        return [armature.pose.bones[bone.name] for bone in bones]
    return bones
