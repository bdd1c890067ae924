"""How each bone of an armature deforms the mesh, and the bone setting that overrides it."""

import bpy
import numpy as np
from araplbs.skeleton.poses import BENDY, RIGID

BONE_KINDS = (
    (
        "AUTO",
        "As Set Up",
        "It bends if it has segments, and stretches with a Stretch To or Maintain Volume "
        "constraint, IK Stretch, or inherited scale",
    ),
    ("RIGID", "Rigid", "Weights are computed as if it only rotated"),
    (
        "STRETCHABLE",
        "Stretchable",
        "It is meant to be scaled, so weights let the mesh stretch with it",
    ),
)
NOT_INHERITED = ("NONE", "NONE_LEGACY")  # values of Bone.inherit_scale


def read_bone_kinds(armature):
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
    """(whether the bone stretches by itself, whether its volume is then preserved)"""
    constraints = [] if posed is None else posed.constraints
    active = [c for c in constraints if c.enabled and not c.mute and c.influence > 0]
    kinds = {c.type for c in active}
    keeps = "MAINTAIN_VOLUME" in kinds or any(
        c.type == "STRETCH_TO" and c.volume != "NO_VOLUME" for c in active
    )
    if bone.araplbs_deformer == "STRETCHABLE":
        return True, keeps
    ik = posed is not None and posed.ik_stretch > 0 and posed.is_in_ik_chain
    return bool(kinds & {"STRETCH_TO", "MAINTAIN_VOLUME"}) or ik, keeps


DEFORMER = bpy.props.EnumProperty(
    name="Deforms",
    description="How Auto-weight (ARAP) models this bone",
    items=BONE_KINDS,
    options=set(),
)
PROPERTIES = ((bpy.types.Bone, "araplbs_deformer", DEFORMER),)
