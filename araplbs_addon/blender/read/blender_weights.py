"""Blender's automatic weights for meshes, computed on copies in a separate scene. The user's
objects are neither selected nor changed."""

import time
from contextlib import contextmanager

import bpy
import numpy as np
from araplbs.base.refusal import Refused
from mathutils import Matrix

from ..data.references import remove_made
from .read_mesh import present_weights

KINDS = {"BLENDER_HEAT": "ARMATURE_AUTO", "BLENDER_ENVELOPE": "ARMATURE_ENVELOPE"}


def blender_weights(armature, meshes, skeleton, kind):
    """([SparseWeights of each core Mesh], seconds) as computed by Blender's Parent operator; kind:
    a key of KINDS. Raises Refused if the operator fails."""
    with _copies(armature, meshes, skeleton) as (scene, rig, copies):
        context = {
            "scene": scene,
            "view_layer": scene.view_layers[0],
            "active_object": rig,
            "object": rig,
            "selected_objects": [rig, *copies],
            "selected_editable_objects": [rig, *copies],
        }
        start = time.perf_counter()
        try:
            with bpy.context.temp_override(**context):
                bpy.ops.object.parent_set(type=KINDS[kind])
        except RuntimeError as error:
            if not any(copy.vertex_groups for copy in copies):
                raise Refused(str(error).strip().removeprefix("Error: ")) from None
        seconds = time.perf_counter() - start
        return [present_weights(copy, skeleton) for copy in copies], seconds


@contextmanager
def _copies(armature, meshes, skeleton):
    """(scene, armature, [mesh objects]): copies in armature space, in which only the bones that
    deform in `skeleton` deform."""
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
        copies = []
        for mesh in meshes:
            copy = bpy.data.objects.new(mesh.name, _mesh(mesh, data))
            made.append(copy)
            copies.append(copy)
            scene.collection.objects.link(copy)
        scene.view_layers[0].update()
        yield scene, rig, copies
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
