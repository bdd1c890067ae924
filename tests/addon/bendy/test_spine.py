"""Weight as One Spine: bands of weights along a chain of selected bones."""

import bpy
import numpy as np
import pytest
from scenes import (
    add_armature,
    add_tube,
    addon,
    bind,
    entries,
    package,
    rotation,
    select,
    weighting,
    weights,
)
from test_touch_up import posing

TAIL = [f"tail.{k:02d}" for k in range(16)]


def press():
    return bpy.ops.object.araplbs_one_spine()


def lumped():
    """A tube on a hip and a bent tail of 16 vertebrae, one of which has the weights of all. Returns
    (tube, rig, weights of spine_weights() for the hip and the tail)."""
    joints = [(0.03 * k * (16 - k) / 8, 0, 0.6 + 0.15 * k) for k in range(17)]
    above = ["hip", *TAIL]
    bones = [("hip", (0, 0, 0.05), (0, 0, 0.6), None)]
    bones += [(TAIL[k], joints[k], joints[k + 1], above[k]) for k in range(16)]
    bones += [("fin", joints[5], (1, 0, 2), TAIL[4])]
    rig = add_armature(bones=bones, matrix=rotation(30, "X"))
    rig.data.bones["fin"].use_deform = False
    tube = add_tube(matrix=rotation(30, "X"), rings=31)
    bind(tube, rig)
    mesh = weighting(rig, tube).problem.arguments
    skeleton = addon("blender.read.read_armature").read_armature(rig, False)
    place = [skeleton.names.index(name) for name in above]
    found = package("api.split_bones").spine_weights(
        mesh["vertices"],
        mesh["triangles"],
        *(skeleton.heads, skeleton.tails, skeleton.parents, place[1:]),
        deform=skeleton.deform,
        pose_count=8,
    )
    expected = found.toarray()[:, place]
    for name, shares in (("hip", expected[:, 0]), (TAIL[7], expected[:, 1:].sum(axis=1))):
        group = tube.vertex_groups.new(name=name)
        for vertex in np.flatnonzero(shares).tolist():
            group.add([vertex], shares[vertex], "REPLACE")
    return tube, rig, expected


def test_a_tail_as_one_spine():
    """The weights are those of the package. All other groups stay, to the last bit."""
    tube, rig, expected = lumped()
    assert ((expected[:, 0] > 0) & (expected[:, 0] < 1)).any(), "the hip shares skin with the tail"
    tube.vertex_groups.new(name="Mask").add([3, 200], 0.25, "REPLACE")
    before = weights(tube, ["hip", "Mask"])
    posing(rig, *TAIL)
    assert press() == {"FINISHED"}
    now = weights(tube, ["hip", *TAIL])
    np.testing.assert_allclose(now, expected, atol=1e-6)
    assert now[:, 1:].max(axis=0).min() > 0.5, "each vertebra moves skin"
    assert (weights(tube, ["hip", "Mask"]) == before).all()


def test_a_part_of_the_tail_shares_its_own_weights():
    tube, rig, expected = lumped()
    posing(rig, *TAIL)
    press()
    before = weights(tube, TAIL)
    posing(rig, *TAIL[3:9])
    press()
    now = weights(tube, TAIL)
    others = [*range(3), *range(9, 16)]
    assert (now[:, others] == before[:, others]).all()
    np.testing.assert_allclose(now.sum(axis=1), expected[:, 1:].sum(axis=1), atol=1e-6)


def test_undo():
    tube, rig, _expected = lumped()
    posing(rig, *TAIL)
    before = entries(tube)
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.object.araplbs_one_spine("EXEC_DEFAULT", True)  # True: a step of undo
    assert entries(tube) != before
    bpy.ops.ed.undo()
    tube = bpy.data.objects["Tube"]
    assert entries(tube) == before and len(tube.vertex_groups) == 2


def test_masked_vertices_stay():
    tube, rig, expected = lumped()
    posing(rig, *TAIL)
    before = weights(tube, TAIL)
    select(rig, tube, active=tube)
    bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
    tube.data.use_paint_mask_vertex = True
    chosen = np.arange(len(before)) % 2 == 0
    addon("blender.write.select_region").select_vertices(tube.data, np.flatnonzero(chosen))
    assert rig.mode == "POSE" and press() == {"FINISHED"}
    now = weights(tube, TAIL)
    assert (now[~chosen] == before[~chosen]).all()
    np.testing.assert_allclose(now[chosen], expected[chosen, 1:], atol=1e-6)


def test_refusals():
    tube, rig, _expected = lumped()
    tube.vertex_groups[TAIL[7]].lock_weight = True
    rig.data.bones[TAIL[15]].bbone_segments = 4
    before = entries(tube)
    for bones, message in (
        ([], "Select two or more bones of 'Rig' in Pose mode"),
        (TAIL[:1], "Select two or more bones of 'Rig' in Pose mode"),
        ([TAIL[4], "fin"], "'fin' is not a deform bone"),
        (TAIL[12:], r"'tail\.15' is a bendy bone, which is a spine already"),
        ([TAIL[2], TAIL[4]], r"'tail\.02' and 'tail\.04' are not in one chain"),
        (TAIL[:4], "No vertex has weights for the selected bones of 'Rig'"),
        (TAIL[5:9], r"The vertex group 'tail\.07' of 'Tube' is locked: unlock it first"),
    ):
        posing(rig, *bones)
        with pytest.raises(RuntimeError, match=message):
            press()
    rig.data.bones["fin"].use_deform = True
    posing(rig, TAIL[4], TAIL[5], "fin")
    with pytest.raises(RuntimeError, match=r"'tail\.04' has several selected children"):
        press()
    bpy.ops.object.mode_set(mode="OBJECT")
    with pytest.raises(RuntimeError, match="Available only in Pose and Weight Paint modes"):
        press()
    assert entries(tube) == before and len(tube.vertex_groups) == 2
