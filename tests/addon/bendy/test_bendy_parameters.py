"""Bendy bones converted to plain bones: the positions of vertices along a bone, from a group or
from the mesh."""

import bpy
import numpy as np
from bendy_scenes import CHAIN, EXACT, convert, one_bone, pose, posed, share, tail
from mathutils import Matrix
from scenes import (
    entries,
    new_scene,
    weights,
)


def test_u_of_a_group():
    """Painting Blender's own u changes nothing. With another u, the weights are a hat function of
    it."""
    tube, rig = one_bone()
    z = np.array([vertex.co.z for vertex in tube.data.vertices])
    group = tube.vertex_groups.new(name="along")
    for vertex, value in enumerate((z / 3).tolist()):
        if value:  # vertices outside the group are at 0
            group.add([vertex], value, "REPLACE")
    pose(rig, 3)
    before = posed(tube)
    convert(rig, parameter="GROUP", group="along")
    assert share(before, posed(tube)) < EXACT

    new_scene()
    tube, rig = one_bone()
    tube.vertex_groups.new(name="along").add([5], 0.5, "REPLACE")
    convert(rig, parameter="GROUP", group="along", count=4)
    found = {tube.vertex_groups[g].name: w for g, w in entries(tube)[5]}
    assert found == {"along": 0.5, "bone_2": 0.5, "bone_3": 0.5}
    with_others = {tube.vertex_groups[g].name: w for g, w in entries(tube)[6]}
    assert with_others == {"bone_1": 1.0}


def along(tube, bone, count):
    """The u of each vertex, computed from its weights for the `count` bones that replaced one bone;
    NaN without weights."""
    names = [f"{bone}_{k + 1:0{len(str(count))}}" for k in range(count)]
    of_bones = weights(tube, names)
    with np.errstate(invalid="ignore"):
        return of_bones @ np.linspace(0, 1, count) / of_bones.sum(axis=1)


def test_u_along_a_straight_mesh():
    """The u is nearly the one that Blender uses: in any space, mirrored, and along wires."""
    for matrix in (None, Matrix.Translation((0, 0, 4)) @ Matrix.Scale(-1, 4, (0, 1, 0))):
        new_scene()
        tube, rig = tail(matrix=matrix, rig_matrix=matrix)
        convert(rig, parameter="DIFFUSED")
        z = np.array([vertex.co.z for vertex in tube.data.vertices])
        for i, (bone, count) in enumerate(zip(CHAIN, (7, 6, 5), strict=True)):
            u = along(tube, bone, count)
            there = np.isfinite(u)
            assert there.sum() > 100
            assert np.abs(u - np.clip(z - i, 0, 1))[there].max() < 0.2  # it is rounder at the ends
    new_scene()
    tube, rig = one_bone()
    mesh = bpy.data.meshes.new("Wire")
    mesh.from_pydata([(0, 0, 0.1 * i) for i in range(31)], [(i, i + 1) for i in range(30)], [])
    tube.data = mesh
    tube.vertex_groups.clear()
    tube.vertex_groups.new(name="bone").add(range(31), 1.0, "REPLACE")
    convert(rig, parameter="DIFFUSED")
    assert np.abs(along(tube, "bone", 10) - np.linspace(0, 1, 31)).max() < 0.1
