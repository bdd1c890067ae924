"""Show Pose, and the list of problems that remain after Auto-weight."""

import bpy
import flaws
import numpy as np
import pytest
from scenes import (
    addon,
    auto_weight,
    select,
    tube_and_rig,
)
from test_outcome import at_hand, in_a_window, shown, weighted  # noqa: F401


def posed(rig):
    bpy.context.view_layer.update()
    return np.array([bone.matrix for bone in rig.pose.bones])


def test_show_pose_and_back():
    """The bones are in the pose in which the finding was measured. Then everything is restored,
    including constraints."""
    _tube, rig = flaws.halved()
    bone = rig.pose.bones["middle"]
    bone.rotation_mode, bone.rotation_euler = "XYZ", (0.3, 0.2, 0.1)
    limit = bone.constraints.new("LIMIT_ROTATION")
    limit.use_limit_x = limit.use_limit_y = limit.use_limit_z = True
    own = posed(rig)
    bpy.ops.object.araplbs_check()
    flaws.choose("STRETCH")
    finding = flaws.found().findings[flaws.shown().active]
    assert finding.pose >= 0 and "pose 1" not in finding.words
    bpy.ops.object.araplbs_show_pose()
    there = posed(rig)
    rest = np.array([bone.matrix_local for bone in rig.data.bones])
    wanted = flaws.found().list.poses[finding.pose] @ rest
    np.testing.assert_allclose(there[:, :3], wanted, atol=1e-4)
    assert limit.mute and np.abs(there - own).max() > 0.1
    bpy.ops.object.araplbs_show_pose(index=flaws.shown().active)
    np.testing.assert_allclose(posed(rig), there, atol=1e-5)
    assert bpy.ops.object.araplbs_own_pose() == {"FINISHED"}
    np.testing.assert_allclose(posed(rig), own, atol=1e-6)
    assert not limit.mute and tuple(bone.rotation_euler) == pytest.approx((0.3, 0.2, 0.1))
    assert not bpy.ops.object.araplbs_own_pose.poll()


@pytest.mark.parametrize("turned_since", [False, True])
def test_shown_pose_is_a_frame_of_the_range_of_motion(turned_since):
    """If the armature plays the action of Range of Motion, the pose is shown as a frame. If the
    frame's pose has changed since then, the action is left alone."""
    _tube, rig = flaws.halved()
    bpy.ops.object.araplbs_check()
    flaws.choose("STRETCH")
    finding = flaws.found().findings[flaws.shown().active]
    select(rig)
    assert bpy.ops.object.araplbs_range_of_motion("EXEC_DEFAULT") == {"FINISHED"}
    action, scene = rig.animation_data.action, bpy.context.scene
    wanted = action.pose_markers[f"Combination {finding.pose + 1}"].frame
    if turned_since:
        rig.pose.bones["upper"].constraints.new("LIMIT_ROTATION").use_limit_x = True
    scene.frame_set(3, subframe=0.5)
    own = posed(rig)
    bpy.ops.object.araplbs_show_pose(index=flaws.shown().active)
    assert scene.frame_current == (3 if turned_since else wanted)
    rest = np.array([bone.matrix_local for bone in rig.data.bones])
    there = flaws.found().list.poses[finding.pose] @ rest
    np.testing.assert_allclose(posed(rig)[:, :3], there, atol=1e-3)
    bpy.ops.object.araplbs_own_pose()
    assert (scene.frame_current, scene.frame_subframe) == (3, 0.5)
    np.testing.assert_allclose(posed(rig), own, atol=1e-6)


def test_files_hold_the_own_pose(tmp_path):
    tube, rig = tube_and_rig()
    select(tube, rig)
    auto_weight()
    module, rest = addon("features.check.show_pose"), posed(rig)
    turned = {"upper": np.array([(0, -1, 0, 0), (1, 0, 0, 0), (0, 0, 1, 0.0)])}
    module._posed[:] = [addon("blender.poses.pose_rig").PosedRig(rig, turned)]
    assert np.abs(posed(rig) - rest).max() > 0.1
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "saved.blend"))
    np.testing.assert_allclose(posed(rig), rest, atol=1e-6)
    assert not module.posed_rig()


def test_no_pose_to_show():
    flaws.flawed("UNWEIGHTED")
    bpy.ops.object.araplbs_check()
    flaws.choose("UNWEIGHTED")
    with pytest.raises(RuntimeError, match="the same in every pose"):
        bpy.ops.object.araplbs_show_pose()


def test_problems_of_the_box_are_those_of_the_list(monkeypatch):
    """Show lists the problems found during weighting. The weights need no second check."""
    weighted()
    outcome = at_hand()
    outcome.findings = outcome.findings or []
    module = addon("features.auto_weight.show_worst")
    called = []
    monkeypatch.setattr(module, "show_list", lambda: called.append(True))
    bpy.ops.object.araplbs_show_problems()
    assert called and flaws.found().findings == outcome.findings
    assert not flaws.found().out_of_date


def test_a_shown_rig_that_was_deleted_is_in_nobodys_way():
    """After the posed rig is deleted, the next rig can be posed at once."""
    for _ in range(2):
        for ob in list(bpy.data.objects):
            bpy.data.objects.remove(ob)
        _tube, rig = flaws.halved()
        bpy.ops.object.araplbs_check()
        flaws.choose("STRETCH")
        assert bpy.ops.object.araplbs_show_pose() == {"FINISHED"}
    bpy.data.objects.remove(rig)
    assert not bpy.ops.object.araplbs_own_pose.poll(), "it is offered for another rig"
    addon("features.check.show_pose").put_back()
