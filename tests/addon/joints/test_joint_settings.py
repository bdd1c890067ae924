"""Optimize Joints: locks of joints, groups and weights, materials, and kinds of bones."""

import bpy
import numpy as np
import pytest
from joint_scenes import (
    TRUE,
    bent_tube,
    off_axis,
    optimize,
    place,
    same_bones,
    skeleton_of,
    told,
    twin_rig,
)
from scenes import (
    addon,
    assert_good,
    select,
    weights,
)


def test_pins_are_kept():
    """Weights are pinned to values that differ from the solver's result."""
    tube, rig = bent_tube()
    pinned = [100, 101, 102]
    select(tube)
    for vertex in tube.data.vertices:
        vertex.select = vertex.index in pinned
    bpy.ops.object.araplbs_edit_vertices(kind="WEIGHT", bone="upper", weight=0.75)
    optimize(tube, rig)
    assert_good(tube, rig)
    np.testing.assert_allclose(weights(tube, ["upper"])[pinned], 0.75, atol=0.02)
    tube.data.araplbs.edits[0].use = False
    optimize(tube, rig)
    assert (weights(tube, ["upper"])[pinned] < 0.5).all(), "pinned for nothing"


def test_locked_joints_do_not_move():
    tube, rig = bent_tube()
    rig.data.bones["lower"].araplbs_joint.lock_tail = True  # the head of "middle" too
    before = place(rig, "middle")
    optimize(tube, rig)
    np.testing.assert_allclose(place(rig, "middle"), before, atol=1e-6)
    np.testing.assert_allclose(place(rig, "lower", "tail"), before, atol=1e-6)
    assert off_axis(rig, "upper") < 0.06


def test_all_locked():
    tube, rig = bent_tube()
    for bone in rig.data.bones:
        bone.araplbs_joint.lock_head = bone.araplbs_joint.lock_tail = True
    before = skeleton_of(rig)
    report, _warnings = told(tube, rig)
    assert not report["moved_bones"]
    same_bones(rig, before, [row[0] for row in before])


def test_locks_survive_edit_mode():
    _tube, rig = bent_tube()
    rig.data.bones["upper"].araplbs_joint.lock_head = True
    rig.data.bones["middle"].araplbs_joint.material = 7
    select(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    assert rig.data.edit_bones["upper"].araplbs_joint.lock_head
    rig.data.edit_bones["lower"].araplbs_joint.lock_tail = True
    bpy.ops.object.mode_set(mode="OBJECT")
    locks, factors = addon("features.joints.data").read_joint_settings(rig, list(TRUE))
    assert locks.tolist() == [[False, True], [False, False], [True, False]]
    assert factors.tolist() == [1, 7, 1]


@pytest.mark.parametrize("mode", ["POSE", "EDIT"])
def test_lock_selected(mode):
    _tube, rig = bent_tube()
    select(rig)
    bpy.ops.object.mode_set(mode=mode)
    if mode == "POSE":
        bpy.ops.pose.select_all(action="SELECT")
    else:
        bpy.ops.armature.select_all(action="SELECT")
    bpy.ops.object.araplbs_lock_joints(ends="HEAD")
    bpy.ops.object.mode_set(mode="OBJECT")
    joints = [bone.araplbs_joint for bone in rig.data.bones]
    assert all(joint.lock_head and not joint.lock_tail for joint in joints)
    bpy.ops.object.mode_set(mode=mode)
    bpy.ops.object.araplbs_lock_joints(lock=False)
    bpy.ops.object.mode_set(mode="OBJECT")
    assert not any(bone.araplbs_joint.lock_head for bone in rig.data.bones)
    assert not bpy.ops.object.araplbs_lock_joints.poll()


def test_stiff_joints_move_less():
    moved = []
    for factor in (1.0, 1000.0):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        tube, rig = bent_tube()
        for bone in rig.data.bones:
            bone.araplbs_joint.material = factor
        before = place(rig, "middle")
        optimize(tube, rig, joint_iterations=2)
        moved.append(np.linalg.norm(place(rig, "middle") - before))
    assert moved[1] < 0.5 * moved[0]


def test_lock_of_a_control_bone():
    tube, rig = twin_rig()
    rig.data.bones["target"].araplbs_joint.lock_head = True
    before = place(rig, "upper")
    optimize(tube, rig)
    np.testing.assert_allclose(place(rig, "upper"), before, atol=1e-6)


@pytest.mark.parametrize("kind", ["bendy", "stretching"])
def test_flexible_bones_count_as_rigid(kind):
    tube, rig = bent_tube()
    if kind == "bendy":
        rig.data.bones["middle"].bbone_segments = 4
    else:
        rig.data.bones["middle"].araplbs_deformer = "STRETCHABLE"
    report, warnings = told(tube, rig)
    assert report["warnings"] == warnings
    assert report["moved_bones"] and any("Bendy" in w and "middle" in w for w in warnings)
    assert rig.data.bones["middle"].bbone_segments == (4 if kind == "bendy" else 1)
    assert_good(tube, rig)
