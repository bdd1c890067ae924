"""Finds data, other than the weighted meshes, that depends on the rest positions of bones. The
add-on counts and names this data, so the user knows the effects of moved joints."""

import bpy
import numpy as np
from araplbs.base.refusal import Refused
from araplbs.reports.report import names_in_line

from ...blender.data.binding import is_deformed_by
from ...blender.data.bones import bone_in
from ...blender.data.object_targets import constraints_of, followed_bones
from ...blender.poses.pose_sources import action_curves
from ...blender.read.read_mesh import refuse_linked

NOTICEABLE = 1e-4  # smallest change of length or direction, as a fraction of a bone's length
# The sentences about what depends on moved bones: about one, and about several.
SENTENCES = {
    "users": (
        "Another object uses the same armature, so its bones move too: {names}",
        "{n} other objects use the same armature, so their bones move too: {names}",
    ),
    "meshes": (
        "Another object is bound to the armature and keeps its weights: {names}",
        "{n} other objects are bound to the armature and keep their weights: {names}",
    ),
    "children": (
        "An object parented to a moved bone moves with it: {names}",
        "{n} objects parented to moved bones move with them: {names}",
    ),
    "shapes": (
        "The custom shape of a bone is scaled with its length: {names}",
        "The custom shapes of {n} bones are scaled with their lengths: {names}",
    ),
    "posed": (
        "A moved bone is posed; its pose now rotates about the new joint: {names}",
        "{n} moved bones are posed; their poses now rotate about the new joints: {names}",
    ),
    "ACTIONS": (
        "An action rotates bones whose joints have moved; they now rotate about the "
        "new joints: {names}",
        "{n} actions rotate bones whose joints have moved; they now rotate about "
        "the new joints: {names}",
    ),
    "LOCATIONS": (
        "An action has location keys of moved bones, which are now relative to the new "
        "positions: {names}",
        "{n} actions have location keys of moved bones, which are now relative to the new "
        "positions: {names}",
    ),
    "STRETCH_TO": (
        "A Stretch To constraint still has its old rest length; reset it: {names}",
        "{n} Stretch To constraints still have their old rest lengths; reset them: {names}",
    ),
    "IK": (
        "An IK chain has moved bones; check its pole angle and bend: {names}",
        "{n} IK chains have moved bones; check their pole angles and bends: {names}",
    ),
    "CHILD_OF": (
        "A Child Of or Armature constraint was set for the old positions: {names}",
        "{n} Child Of or Armature constraints were set for the old positions: {names}",
    ),
    "followers": (
        "Another object follows moved bones through constraints: {names}",
        "{n} other objects follow moved bones through constraints: {names}",
    ),
    "drivers": (
        "A driver reads a moved bone: {names}",
        "{n} drivers read moved bones: {names}",
    ),
}
LIKE = {"SPLINE_IK": "IK", "ARMATURE": "CHILD_OF"}  # constraints with the sentence of another type


def refuse_armature(armature, meshes):
    """Raises Refused if the bones of this armature object cannot be moved."""
    refuse_linked(armature)
    if armature.mode == "EDIT":
        raise Refused(f"'{armature.name}' is in Edit mode: exit Edit mode first")
    for other in _users(armature):
        strangers = [ob.name for ob in _deformed_by(other) if ob not in meshes]
        if strangers:
            raise Refused(
                f"'{armature.name}' shares its bones with '{other.name}', which deforms "
                f"{names_in_line(strangers)}: make the armature's data single-user first"
            )


def effects(armature, meshes, before, after, moved):
    """Returns [sentence] about the effects of moving these bones (m,) from one core Skeleton to
    another."""
    ends = [s.tails - s.heads for s in (before, after)]
    lengths = [np.linalg.norm(along, axis=1) for along in ends]
    resized = np.abs(lengths[1] - lengths[0]) > NOTICEABLE * lengths[0]
    resized = {name for name, r in zip(before.names, resized & moved, strict=True) if r}
    moved = {name for name, moves in zip(before.names, moved, strict=True) if moves}
    bones = armature.pose.bones
    names_of = {
        "users": [ob.name for ob in _users(armature)],
        "meshes": [ob.name for ob in _deformed_by(armature) if ob not in meshes],
        "children": [
            ob.name
            for ob in bpy.data.objects
            if ob.parent == armature and ob.parent_type == "BONE" and ob.parent_bone in moved
        ],
        "shapes": [
            bone.name
            for bone in bones
            if bone.custom_shape and bone.use_custom_shape_bone_size and bone.name in resized
        ],
        "posed": [bone.name for bone in bones if bone.name in moved and _is_posed(bone)],
        **_actions(moved),
        **_constraints(armature, moved, resized),
        "followers": _followers(armature, moved),
        "drivers": _drivers(armature, moved),
    }
    lines = []
    for effect, sentences in SENTENCES.items():
        names = list(dict.fromkeys(names_of[effect]))
        if names:
            text = sentences[len(names) > 1]
            lines.append(text.format(n=len(names), names=names_in_line(names)))
    return lines


def _users(armature):
    """Other objects with the same armature data."""
    return [
        ob
        for ob in bpy.data.objects
        if ob.type == "ARMATURE" and ob.data == armature.data and ob != armature
    ]


def _deformed_by(armature):
    return [ob for ob in bpy.data.objects if is_deformed_by(ob, armature)]


def _is_posed(bone):
    basis = np.array(bone.matrix_basis)
    return np.abs(basis - np.eye(4)).max() > 1e-5


def _actions(moved):
    """Actions with keys of moved bones, whose location keys are relative to the rest position."""
    played = {}
    for action in bpy.data.actions:
        for slot, curve in action_curves(action):
            if slot is not None and slot.target_id_type not in ("OBJECT", "UNSPECIFIED"):
                continue
            if bone_in(curve.data_path) not in moved:
                continue
            located = curve.data_path.endswith("].location")
            played[action.name] = played.get(action.name, False) or located
    return {
        "ACTIONS": [name for name, located in played.items() if not located],
        "LOCATIONS": [name for name, located in played.items() if located],
    }


def _constraints(armature, moved, resized):
    """The bones whose constraints were set for the old positions, by type of constraint."""
    bones_of = {"STRETCH_TO": [], "IK": [], "SPLINE_IK": [], "CHILD_OF": [], "ARMATURE": []}
    for bone in armature.pose.bones:
        for constraint in constraints_of(bone):
            if constraint.type not in bones_of:
                continue
            concerned = {bone.name, *followed_bones(constraint, armature)}
            if constraint.type in {"IK", "SPLINE_IK"}:
                count = getattr(constraint, "chain_count", 0)
                chain = [bone, *bone.parent_recursive]
                concerned |= {b.name for b in (chain[:count] if count else chain)}
            if constraint.type == "STRETCH_TO":
                concerned &= resized
            if concerned & moved:
                bones_of[constraint.type].append(bone.name)
    for kind, other in LIKE.items():
        bones_of[other] += bones_of.pop(kind)
    return bones_of


def _followers(armature, moved):
    """Other objects that follow moved bones through constraints."""
    names = []
    for ob in bpy.data.objects:
        owners = [constraints_of(ob)]
        if ob.pose and ob != armature:
            owners += [constraints_of(bone) for bone in ob.pose.bones]
        every = [constraint for constraints in owners for constraint in constraints]
        if any(followed_bones(constraint, armature) & moved for constraint in every):
            names.append(ob.name)
    return names


def _drivers(armature, moved):
    lines = []
    for kind in ("objects", "armatures", "shape_keys", "meshes", "materials"):
        for owner in getattr(bpy.data, kind):
            data = owner.animation_data
            for curve in data.drivers if data else ():
                for variable in curve.driver.variables:
                    if any(_reads(target, armature, moved) for target in variable.targets):
                        lines.append(f"{owner.name}: {curve.data_path}")
    return lines


def _reads(target, armature, moved):
    if target.id not in {armature, armature.data}:
        return False
    return target.bone_target in moved or bone_in(target.data_path) in moved
