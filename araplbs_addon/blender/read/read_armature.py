"""Reads an armature at rest as a core Skeleton, including joint limits and the way in which each
bone deforms the mesh. A setting of a bone can override how it deforms."""

import math

import bpy
import numpy as np
from araplbs.base.refusal import Refused
from araplbs.skeleton.poses import BENDY, RIGID
from araplbs.skeleton.skeleton import Skeleton
from araplbs.skeleton.symmetry import bone_partners

from ..data.bones import LEAVE_FREE, bone_in
from ..data.object_targets import constraints_of
from ..rig.rig_relations import drivers, is_rotation, read_turners

# A limit wider than this on both sides does not limit a joint. Rigs use such limits for free
# joints.
FREE_ANGLE = math.radians(170)

BONE_KINDS = (
    (
        "AUTO",
        "As Set Up",
        "The bone bends if it has segments, and stretches with a Stretch To or Maintain "
        "Volume constraint, IK Stretch, or inherited scale",
    ),
    ("RIGID", "Rigid", "Weights are computed as if the bone only rotated"),
    (
        "STRETCHABLE",
        "Stretchable",
        "The bone is meant to be scaled, so weights let the mesh stretch with it",
    ),
)
NOT_INHERITED = ("NONE", "NONE_LEGACY")  # values of Bone.inherit_scale


def read_armature(armature, use_joint_limits):
    """The Skeleton of an armature object, with all bones in the armature's order.

    Raises Refused if there are no bones or no deform bones, or for coordinates that are not finite.
    """
    bones = armature.data.bones
    if not bones:
        raise Refused(f"Armature '{armature.name}' has no bones")
    deform = np.array([bone.use_deform for bone in bones])
    if not deform.any():
        raise Refused(f"Armature '{armature.name}' has no deform bones: Deform is off for all")
    index = {bone.name: i for i, bone in enumerate(bones)}
    heads = np.array([bone.head_local for bone in bones], dtype=np.float64)
    tails = np.array([bone.tail_local for bone in bones], dtype=np.float64)
    if not (np.isfinite(heads).all() and np.isfinite(tails).all()):
        raise Refused(f"Armature '{armature.name}' has bones at coordinates that are not finite")
    return Skeleton(
        names=list(index),
        heads=heads,
        tails=tails,
        parents=np.array([index[b.parent.name] if b.parent else -1 for b in bones], np.int32),
        roll_axes=np.array([bone.matrix_local.col[2][:3] for bone in bones], dtype=np.float64),
        deform=deform,
        limits=_limits(armature) if use_joint_limits else np.full((len(bones), 3, 2), np.nan),
        opposite=np.array([index.get(bpy.utils.flip_name(n), i) for n, i in index.items()]),
        taken_in=np.array([bone.araplbs_deforms for bone in bones], bool),
        turners=read_turners(armature),
        **_bone_kinds(armature),
    )


def _bone_kinds(armature):
    """The bone fields of a Skeleton: kinds, segments, stretch, own_stretch, volume."""
    bones = armature.data.bones
    kinds = [RIGID] * len(bones)
    own, all_of_it, volume = (np.zeros(len(bones), bool) for _ in range(3))
    index = {bone.name: i for i, bone in enumerate(bones)}
    for i, bone in enumerate(bones):
        if bone.araplbs_deformer == "RIGID":
            continue
        if bone.bbone_segments > 1:
            kinds[i] = BENDY
        own[i], volume[i] = _stretches(bone, armature.pose.bones.get(bone.name))
    for i, bone in enumerate(bones):  # children follow their parents
        inherits = bone.parent and bone.inherit_scale not in NOT_INHERITED
        all_of_it[i] = own[i] or (
            inherits and bone.araplbs_deformer != "RIGID" and all_of_it[index[bone.parent.name]]
        )
    return {
        "kinds": kinds,
        "segments": np.array([bone.bbone_segments for bone in bones], np.int32),
        "stretch": all_of_it,
        "own_stretch": own,
        "volume": volume,
    }


def _stretches(bone, posed):
    """Returns (whether the bone stretches by itself, whether its volume is preserved when it
    stretches)."""
    constraints = [] if posed is None else constraints_of(posed)
    active = [c for c in constraints if c.enabled and not c.mute and c.influence > 0]
    kinds = {c.type for c in active}
    keeps = "MAINTAIN_VOLUME" in kinds or any(
        c.type == "STRETCH_TO" and c.volume != "NO_VOLUME" for c in active
    )
    if bone.araplbs_deformer == "STRETCHABLE":
        return True, keeps
    ik = posed is not None and posed.ik_stretch > 0 and posed.is_in_ik_chain
    return bool(kinds & {"STRETCH_TO", "MAINTAIN_VOLUME"}) or ik, keeps


def _limits(armature):
    limits = np.full((len(armature.data.bones), 3, 2), np.nan)
    paths = [curve.data_path for curve in drivers(armature)]
    driven = {bone_in(path) for path in paths if is_rotation(path)}
    for i, bone in enumerate(armature.data.bones):
        posed = armature.pose.bones.get(bone.name)
        if posed is None or _is_free(posed):  # the pose of a new bone is created at the next update
            continue
        for axis, name in enumerate("xyz"):
            ranges = []
            if is_locked(posed, axis) and not (bone.name in driven or _turned(posed)):
                limits[i, axis] = 0
                continue
            if getattr(posed, f"use_ik_limit_{name}"):
                ranges.append((getattr(posed, f"ik_min_{name}"), getattr(posed, f"ik_max_{name}")))
            ranges += [
                (getattr(c, f"min_{name}"), getattr(c, f"max_{name}"))
                for c in constraints_of(posed)
                if c.type == "LIMIT_ROTATION"
                and c.owner_space == "LOCAL"
                and c.enabled
                and not c.mute
                and c.influence > 0
                and getattr(c, f"use_limit_{name}")
            ]
            low = max((r[0] for r in ranges), default=-math.pi)
            high = min((r[1] for r in ranges), default=math.pi)
            if low <= high and (low > -FREE_ANGLE or high < FREE_ANGLE):
                limits[i, axis] = low, high
    return limits


def _is_free(posed):
    """Whether nothing limits the bone, which is the usual case."""
    return not (
        len(constraints_of(posed))
        or any((*posed.lock_rotation, posed.lock_rotation_w))
        or any((posed.lock_ik_x, posed.lock_ik_y, posed.lock_ik_z))
        or any((posed.use_ik_limit_x, posed.use_ik_limit_y, posed.use_ik_limit_z))
    )


def _turned(posed):
    """Whether constraints turn the bone. If so, a lock only prevents users from turning the bone by
    hand, as in Rigify."""
    return any(
        c.enabled and not c.mute and c.type != "IK" and c.type not in LEAVE_FREE
        for c in constraints_of(posed)
    )


def is_locked(posed, axis):
    """Whether an axis of a pose bone cannot turn, because of its transform locks or, in an IK
    chain, its IK locks. If a rotation is stored as axis-angle or quaternion with a lock for each
    component, a locked component other than 0 gives no information about its axis."""
    if getattr(posed, f"lock_ik_{'xyz'[axis]}") and posed.is_in_ik_chain:
        return True
    four = posed.lock_rotations_4d and posed.rotation_mode in ("QUATERNION", "AXIS_ANGLE")
    if not four:
        return posed.lock_rotation[axis]
    if posed.rotation_mode == "QUATERNION":
        return posed.lock_rotation[axis] and posed.rotation_quaternion[1 + axis] == 0
    still = posed.rotation_axis_angle[1 + axis] == 0
    return posed.lock_rotation_w or (posed.lock_rotation[axis] and still)


def opposite_bone(armature, bone):
    """The name of the deform bone on the other side, or `bone` itself if it lies on the mirror
    plane. The bone is found by name, or by position if the name has no side."""
    flipped = bpy.utils.flip_name(bone)
    bones = armature.data.bones if armature else ()
    if bone not in bones or (flipped != bone and flipped in bones):
        return flipped
    skeleton = read_armature(armature, use_joint_limits=False)
    place = skeleton.names.index(bone)
    partner = skeleton.other_side[place]
    if partner == place and flipped == bone:
        partners = bone_partners(skeleton)
        partner = -1 if partners is None else partners[place]
    return flipped if partner in (-1, place) else skeleton.names[partner]


DEFORMER = bpy.props.EnumProperty(
    name="Deforms",
    description="How Auto-weight (ARAP) models this bone",
    items=BONE_KINDS,
    options=set(),
)
PROPERTIES = ((bpy.types.Bone, "araplbs_deformer", DEFORMER),)
