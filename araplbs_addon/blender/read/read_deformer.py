"""Reads how an Armature modifier deforms a mesh, as a Deformer that includes bendy bones."""

import numpy as np
from araplbs.model.deformer import Deformer, Envelopes
from araplbs.skeleton.poses import BENDY

from ..data.binding import armature_modifier, is_armature_child
from ..poses.read_poses import stage


def read_deformer(ob, armature):
    """The Deformer of a mesh; None if the mesh is deformed by linear blend skinning with its vertex
    groups."""
    modifier = armature_modifier(ob, armature)
    bones = armature.data.bones
    multiply = np.array([bone.use_envelope_multiply and bone.use_deform for bone in bones], bool)
    is_child = is_armature_child(ob, armature)
    if modifier is None and not multiply.any() and not is_child:
        return None
    deformer = Deformer(
        Envelopes(
            multiply=multiply,
            head_radius=np.array([bone.head_radius for bone in bones], np.float64),
            tail_radius=np.array([bone.tail_radius for bone in bones], np.float64),
            distance=np.array([bone.envelope_distance for bone in bones], np.float64),
            weight=np.array([bone.envelope_weight for bone in bones], np.float64),
        )
    )
    if modifier:  # otherwise, a modifier with Blender's defaults is added later
        deformer.preserve_volume = modifier.use_deform_preserve_volume
        deformer.use_groups = modifier.use_vertex_groups
        deformer.use_envelopes = modifier.use_bone_envelopes
    elif is_child:
        deformer.use_envelopes = True
    plain = deformer.use_groups and not deformer.use_envelopes and not multiply.any()
    return None if plain and not deformer.preserve_volume else deformer


def read_joint_axes(armature, skeleton):
    """The rest axes (j, 3, 3), as columns in armature space, of the joints of all bendy bones."""
    if not skeleton.joint_count:
        return np.zeros((0, 3, 3))
    with stage(armature) as scene:
        view_layer = scene.view_layers[0]
        view_layer.update()
        posed = armature.evaluated_get(view_layer.depsgraph).pose.bones
        axes = [
            (posed[name].bone.matrix_local @ posed[name].bbone_segment_matrix(joint, rest=True))
            for name, kind, count in zip(
                skeleton.names, skeleton.kinds, skeleton.segments, strict=True
            )
            if kind == BENDY
            for joint in range(count + 1)
        ]
    return np.array(axes, np.float64)[:, :3, :3]
