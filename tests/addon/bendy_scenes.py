"""Creates tubes on bendy bones and their poses, and measures the motion that the conversion to
plain bones causes."""

import random

import bpy
import numpy as np
from scenes import (
    add_armature,
    add_tube,
    bind,
    select,
)

CHAIN = ("lower", "middle", "upper")
EXACT = 1e-6  # of the bounding box; the promise is 1e-5


def tail(segments=(6, 5, 4), mapping="STRAIGHT", matrix=None, rig_matrix=None, rings=40):
    """A tube on three connected bendy bones with overlapping smooth weights."""
    rig = add_armature(matrix=rig_matrix)
    select(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    for name in CHAIN[1:]:
        rig.data.edit_bones[name].use_connect = True
    bpy.ops.object.mode_set(mode="OBJECT")
    for name, count in zip(CHAIN, segments, strict=True):
        rig.data.bones[name].bbone_segments = count
        rig.data.bones[name].bbone_mapping_mode = mapping
    tube = add_tube("Tail", matrix=matrix, rings=rings, sides=8)
    bind(tube, rig)
    weight(tube)
    return tube, rig


def weight(tube, names=CHAIN):
    z = np.array([vertex.co.z for vertex in tube.data.vertices])
    for i, name in enumerate(names):
        group = tube.vertex_groups.new(name=name)
        weights = np.clip(1 - np.abs(z - (i + 0.5)) / 1.1, 0, 1)
        for vertex in np.flatnonzero(weights).tolist():
            group.add([vertex], float(weights[vertex]), "REPLACE")


def bend(bone, numbers, scale):
    """Changes all settings of a bendy bone or its pose that affect its curve."""
    for name in ("curveinx", "curveinz", "curveoutx", "curveoutz"):
        setattr(bone, f"bbone_{name}", numbers.uniform(-0.3, 0.3))
    bone.bbone_rollin, bone.bbone_rollout = numbers.uniform(-1, 1), numbers.uniform(-1, 1)
    bone.bbone_easein, bone.bbone_easeout = numbers.uniform(0.3, 1.6), numbers.uniform(0.3, 1.6)
    if scale:
        bone.bbone_scalein = [numbers.uniform(0.7, 1.3) for _ in range(3)]
        bone.bbone_scaleout = [numbers.uniform(0.7, 1.3) for _ in range(3)]


def pose(rig, seed, scale=True, curves=True):
    """Poses all bones except those that follow others."""
    numbers = random.Random(seed)
    for bone in rig.pose.bones:
        if bone.constraints:
            continue
        bone.rotation_mode = "XYZ"
        bone.rotation_euler = [numbers.uniform(-0.8, 0.8) for _ in range(3)]
        bone.location = [numbers.uniform(-0.2, 0.2) for _ in range(3)]
        if scale:
            bone.scale = [numbers.uniform(0.7, 1.3) for _ in range(3)]
        if curves:
            bend(bone, numbers, scale)
    bpy.context.view_layer.update()


def posed(ob):
    bpy.context.view_layer.update()
    depsgraph = bpy.context.evaluated_depsgraph_get()
    evaluated = ob.evaluated_get(depsgraph)
    points = [evaluated.matrix_world @ vertex.co for vertex in evaluated.data.vertices]
    return np.array(points, np.float64)


def share(before, after):
    """The largest distance, as a share of the bounding box diagonal."""
    return np.linalg.norm(after - before, axis=1).max() / np.linalg.norm(np.ptp(before, axis=0))


def convert(rig, **options):
    select(rig)
    assert bpy.ops.object.araplbs_bendy(**options) == {"FINISHED"}


def assert_same_in_poses(make, poses=(1, 2, 3), most=EXACT, **options):
    """make() returns (mesh, rig); pose 0 is rest. After one conversion at rest, the mesh moves as
    before."""
    tube, rig = make()
    before = []
    for seed in poses:
        pose(rig, seed)
        before.append(posed(tube))
    rest_rig(rig)
    rest = posed(tube)
    convert(rig, **options)
    assert share(rest, posed(tube)) < most
    moved = 0
    for seed, points in zip(poses, before, strict=True):
        pose(rig, seed)
        moved = max(moved, share(points, rest))
        assert share(points, posed(tube)) < most
    assert moved > 0.1
    return tube, rig


def rest_rig(rig):
    for bone in rig.pose.bones:
        bone.matrix_basis.identity()
        for name in ("curveinx", "curveinz", "curveoutx", "curveoutz", "rollin", "rollout"):
            setattr(bone, f"bbone_{name}", 0)
        for name in ("easein", "easeout"):
            setattr(bone, f"bbone_{name}", 1 if hasattr(bone.bone, "bbone_easein") else 0)
        bone.bbone_scalein = bone.bbone_scaleout = (1, 1, 1)


def one_bone():
    rig = add_armature(bones=[("bone", (0, 0, 0), (0, 0, 3), None)])
    rig.data.bones["bone"].bbone_segments = 9
    tube = add_tube("Tail", rings=40, sides=8)
    bind(tube, rig)
    tube.vertex_groups.new(name="bone").add(range(len(tube.data.vertices)), 1.0, "REPLACE")
    return tube, rig


def curved_rest(mapping):
    tube, rig = tail(mapping=mapping)
    for i, bone in enumerate(rig.data.bones):
        bend(bone, random.Random(10 + i), scale=True)
    return tube, rig
