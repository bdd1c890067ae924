"""Bendy bones converted to plain bones: the positions of vertices along a bone, from a group or
from the mesh."""

import bpy
import numpy as np
from bendy_scenes import CHAIN, EXACT, convert, one_bone, pose, posed, share, tail
from mathutils import Matrix
from scenes import (
    add_armature,
    add_mesh,
    bind,
    entries,
    new_scene,
    tube_arrays,
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


def bent_tail(gap):
    """A tube that turns back, with a bone in each of its two folds. gap: the distance between the
    folds."""
    radius, rings, sides = 0.3, 61, 8
    reach = radius + gap / 2
    s = np.linspace(0, 2 * 3 + np.pi * reach, rings)  # up, round, down
    angle = np.clip((s - 3) / reach, 0, np.pi)
    x, z = -reach * np.cos(angle), np.minimum(s, 3) + reach * np.sin(angle)
    z -= np.maximum(s - 3 - np.pi * reach, 0)
    vertices, faces = tube_arrays(rings=rings, sides=sides, radius=radius)
    around = vertices[:sides].copy()
    for r in range(rings):
        out = np.array([-np.cos(angle[r]), 0, np.sin(angle[r])])
        place = np.array([x[r], 0, z[r]])
        vertices[r * sides : (r + 1) * sides] = (
            place - around[:, :1] * out + around[:, 1:2] * np.array([0, 1, 0])
        )
    vertices[-2:] = [(x[0], 0, z[0]), (x[-1], 0, z[-1])]
    rig = add_armature(
        bones=[
            ("up", (-reach, 0, 0), (-reach, 0, 3), None),
            ("turn", (-reach, 0, 3), (reach, 0, 3), "up"),
            ("down", (reach, 0, 3), (reach, 0, 0), "turn"),
        ]
    )
    for name in ("up", "down"):
        rig.data.bones[name].bbone_segments = 6
    tube = add_mesh("Bent", vertices, faces)
    bind(tube, rig)
    for name in ("up", "down"):  # all over, so that u of every vertex can be seen
        tube.vertex_groups.new(name=name).add(range(len(vertices)), 0.5, "REPLACE")
    ring = np.arange(rings * sides) // sides
    return tube, rig, s[ring]


def test_u_follows_the_mesh_over_folds_that_touch():
    """Judged by position, as in Blender, a vertex of the other fold lies next to the beginning of
    the bone; judged along the mesh, it lies at the end of the bone."""
    for parameter in ("BLENDER", "DIFFUSED"):
        new_scene()
        tube, rig, s = bent_tail(gap=0.01)
        convert(rig, parameter=parameter)
        up, down = (along(tube, bone, 7)[: len(s)] for bone in ("up", "down"))
        first, last = s < 2.7, s > s.max() - 2.7
        if parameter == "BLENDER":
            assert up[last].min() < 0.1 and down[first].max() > 0.9
            continue
        assert up[last].min() > 0.9 and down[first].max() < 0.1
        assert np.abs(up - s / 3)[first].max() < 0.15
        assert np.abs(down - 1 - (s - s.max()) / 3)[last].max() < 0.15
        edges = np.array([edge.vertices for edge in tube.data.edges])
        edges = edges[(edges < len(s)).all(axis=1)]
        assert np.abs(up[edges[:, 0]] - up[edges[:, 1]]).max() < 0.1  # of steps of 0.04
