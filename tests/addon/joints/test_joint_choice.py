"""Tests Optimize Joints with one misplaced joint. The weights reveal this joint, which moves alone
or with all others."""

import bpy
import numpy as np
import pytest
from joint_scenes import TRUE, bent_tube
from scenes import auto_weight, choose_bones, select, snapshot

WRONG = {"upper": (0, 0, 1.55)}  # where the tube bends at 2


def with_wrong_joint():
    """(tube, rig): a weighted tube whose last joint was then moved along its bone."""
    tube, rig = bent_tube(off={})
    auto_weight(tube, rig)
    move(rig, (0, 0, 1.5))
    return tube, rig


def move(rig, place):
    select(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones["upper"].head = place
    bpy.ops.object.mode_set(mode="OBJECT")


def heads(rig):
    return {bone.name: np.array(bone.head_local) for bone in rig.data.bones}


def pose_selecting(rig, tube, *names):
    select(tube, rig)
    bpy.ops.object.mode_set(mode="POSE")
    choose_bones(rig, *names)


def optimize(**options):
    return bpy.ops.object.araplbs_joints("EXEC_DEFAULT", pose_count=20, **options)


@pytest.mark.parametrize("weights_too", [True, False])
def test_the_wrong_joint_moves_most(weights_too, capfd):
    """The joint returns to its former position, and the message names it."""
    tube, rig = with_wrong_joint()
    before = heads(rig)
    assert abs(before["upper"][2] - 1.5) < 1e-5
    select(tube, rig)
    assert optimize(optimize_weights=weights_too) == {"FINISHED"}
    after = heads(rig)
    far = {name: np.linalg.norm(after[name] - before[name]) for name in before}
    assert max(far, key=far.get) == "upper"
    assert abs(after["upper"][2] - TRUE["upper"][2]) < 0.15
    line = "Joints were moved to where the weights bend: upper"
    assert line in capfd.readouterr().out


def test_only_selected_joints():
    tube, rig = with_wrong_joint()
    before = heads(rig)
    pose_selecting(rig, tube, "upper")
    assert optimize(only_selected_bones=True) == {"FINISHED"}
    after = heads(rig)
    assert abs(after["upper"][2] - TRUE["upper"][2]) < 0.15
    for name in ("lower", "middle"):
        np.testing.assert_allclose(after[name], before[name], atol=1e-6)
    tails = {bone.name: np.array(bone.tail_local) for bone in rig.data.bones}
    np.testing.assert_allclose(tails["middle"], after["upper"], atol=1e-6)


def test_a_locked_joint_stays_though_it_is_selected():
    tube, rig = with_wrong_joint()
    rig.data.bones["upper"].araplbs_joint.lock_head = True
    before = heads(rig)
    pose_selecting(rig, tube, "upper")
    optimize(only_selected_bones=True)
    np.testing.assert_allclose(heads(rig)["upper"], before["upper"], atol=1e-6)


def test_nothing_is_selected():
    tube, rig = with_wrong_joint()
    pose_selecting(rig, tube)
    before = snapshot()
    with pytest.raises(RuntimeError, match=f"No bone of '{rig.name}' is selected in Pose mode"):
        optimize(only_selected_bones=True)
    assert snapshot() == before
    bpy.ops.object.mode_set(mode="OBJECT")
    select(tube, rig)
    assert optimize(only_selected_bones=True, joint_iterations=1) == {"FINISHED"}, "all of them"


def test_without_weights_the_energy_alone_decides(capfd):
    """There are no weights that a joint could contradict."""
    tube, rig = bent_tube(off=WRONG)
    select(tube, rig)
    assert optimize(joint_iterations=2) == {"FINISHED"}
    assert "weights bend" not in capfd.readouterr().out
