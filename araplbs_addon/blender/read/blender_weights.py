"""Computes Blender's automatic weights for meshes, on copies in a separate scene. The user's
objects are neither selected nor changed."""

import time
from contextlib import contextmanager

import bpy
import numpy as np
from araplbs.base.refusal import Refused
from mathutils import Matrix

from ..data.references import remove_made, words_of
from .read_mesh import present_weights

KINDS = {"BLENDER_HEAT": "ARMATURE_AUTO", "BLENDER_ENVELOPE": "ARMATURE_ENVELOPE"}


def blender_weights_in_steps(armature, meshes, skeleton, kind):
    """Returns ([SparseWeights of each core Mesh], seconds), computed by Blender's Parent operator.
    kind: a key of KINDS. Raises Refused if the operator fails for all meshes. The function is a
    generator with one step per mesh. Blender does not respond during a step, because the operator
    cannot be stopped."""
    weights, reasons, seconds = [], [], 0.0
    for mesh in meshes:
        with _copies(armature, mesh, skeleton) as (scene, rig, copy):
            context = {
                "scene": scene,
                "view_layer": scene.view_layers[0],
                "active_object": rig,
                "object": rig,
                "selected_objects": [rig, copy],
                "selected_editable_objects": [rig, copy],
            }
            start = time.perf_counter()
            try:
                with bpy.context.temp_override(**context):
                    bpy.ops.object.parent_set(type=KINDS[kind])
            except RuntimeError as error:
                if not copy.vertex_groups:
                    reasons.append(words_of(error))
            seconds += time.perf_counter() - start
            weights.append(present_weights(copy, skeleton))
        yield
    if len(reasons) == len(weights):
        raise Refused(reasons[0])
    return weights, seconds


@contextmanager
def _copies(armature, mesh, skeleton):
    """Yields (scene, armature, mesh object): copies in armature space. The deform bones of the
    copied armature are those of `skeleton`."""
    made, data, scene = [], [], bpy.data.scenes.new("Auto-weight")
    try:
        rig = armature.copy()
        made.append(rig)
        rig.data = armature.data.copy()
        data.append(rig.data)
        rig.animation_data_clear()
        rig.data.animation_data_clear()
        rig.parent = None
        rig.constraints.clear()
        rig.hide_viewport = False
        rig.data.pose_position = "REST"
        for bone, deforms in zip(rig.data.bones, skeleton.deform, strict=True):
            bone.use_deform = bool(deforms)
        scene.collection.objects.link(rig)
        rig.matrix_world = Matrix()
        copy = bpy.data.objects.new(mesh.name, _mesh(mesh, data))
        made.append(copy)
        scene.collection.objects.link(copy)
        scene.view_layers[0].update()
        yield scene, rig, copy
    finally:
        remove_made(*made, *data, scene)


def _mesh(mesh, data):
    made = bpy.data.meshes.new(mesh.name)
    data.append(made)
    points = mesh.points
    outside_in = np.linalg.det(mesh.matrix[:3, :3]) < 0
    triangles = mesh.triangles[:, ::-1] if outside_in else mesh.triangles
    made.from_pydata(points.tolist(), mesh.edges.tolist(), triangles.tolist())
    return made
