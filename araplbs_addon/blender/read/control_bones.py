"""Excludes the control bones of an armature, based on evidence in the file. Each excluded bone
stores the reason, and whether the user nevertheless lets it deform vertices (Bone.araplbs_control,
araplbs_evidence and araplbs_deforms)."""

import bpy
import numpy as np
from araplbs.character.control_bones import REASONS, leave_out_in_steps

from ..rig.bone_facts import motion_of, read_facts
from .read_mesh import present_weights


def leave_out_of_armature_in_steps(armature, objects, meshes, skeleton, view_layer, threads):
    """Returns (meshes, skeleton) as leave_out_in_steps() does. objects: the objects of the
    meshes."""
    facts = read_facts(armature, skeleton)
    yield

    def read_weights(asked):
        names = {skeleton.names[bone] for bone in np.flatnonzero(asked)}
        return [
            None
            if names.isdisjoint(group.name for group in ob.vertex_groups)
            else present_weights(ob, skeleton)
            for ob in objects
        ]

    motion = motion_of(armature, skeleton, view_layer)
    return (yield from leave_out_in_steps(meshes, skeleton, threads, facts, read_weights, motion))


def mark_control_bones(armature, skeleton):
    """Records on each bone whether it was excluded. Bones of a linked file are not marked."""
    if armature.data.library:
        return
    for i, (bone, code) in enumerate(
        zip(armature.data.bones, skeleton.control.tolist(), strict=True)
    ):
        evidence = skeleton.evidence.get(i, "")
        if bone.araplbs_control != REASONS[code][0]:
            bone.araplbs_control = REASONS[code][0]
        if bone.araplbs_evidence != evidence:
            bone.araplbs_evidence = evidence


def is_left_out(bone):
    """Whether the bone was excluded and will be excluded again."""
    return bone.araplbs_control != "NONE" and bone.use_deform and not bone.araplbs_deforms


def short_reason(bone):
    """The reason in one or two words, for a list."""
    return next(name for identifier, name, _tip in REASONS if identifier == bone.araplbs_control)


def reason(bone):
    """The name of the reason and the further evidence, for display."""
    name, evidence = short_reason(bone), bone.araplbs_evidence
    return f"{name}: {evidence}" if evidence else name


CONTROL = bpy.props.EnumProperty(
    name="Control Bone",
    description="Why Auto-weight (ARAP) last left the bone out",
    items=REASONS,
    options=set(),
)
EVIDENCE = bpy.props.StringProperty(
    name="Evidence",
    description="Why Auto-weight (ARAP) treats the bone as a control, apart from its position",
    options=set(),
)
DEFORMS = bpy.props.BoolProperty(
    name="Never Leave Out",
    description="Auto-weight (ARAP) lets the bone move vertices even if it looks like a "
    "control bone",
    options=set(),
)
PROPERTIES = (
    (bpy.types.Bone, "araplbs_control", CONTROL),
    (bpy.types.Bone, "araplbs_evidence", EVIDENCE),
    (bpy.types.Bone, "araplbs_deforms", DEFORMS),
)
