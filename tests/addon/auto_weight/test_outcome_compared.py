"""The comparisons in the Result box other than with the earlier weights: with Blender's bone heat,
and in the actions of the file."""

import araplbs
import bpy
import flaws
import numpy as np
import pytest
from scenes import (
    add_tube,
    addon,
    auto_weight,
    entries,
    keyed,
    package,
    select,
    tube_and_rig,
    weighting,
)
from test_outcome import at_hand, drawn, in_a_window, weighted  # noqa: F401


def test_the_reference_is_the_heat_of_blender():
    """Without earlier weights, ours are compared with Blender's automatic weights (Ctrl P),
    measured in the same way."""
    tube, rig = weighted()
    heat = at_hand().facts["heat"]
    tube.vertex_groups.clear()
    tube.modifiers.clear()
    select(tube, rig)
    bpy.ops.object.parent_set(type="ARMATURE_AUTO")
    auto_weight(tube, rig)
    assert at_hand().facts["stretch"][0] == pytest.approx(heat, rel=1e-4)
    assert "heat" not in at_hand().facts


def test_heat_that_fails(monkeypatch):
    """If no bone is visible from some vertices, the box states this fact, and our weights cover
    these vertices."""
    tube, rig = tube_and_rig()
    inner = add_tube("Inner", radius=0.02, shift=(0.9, 0, 0))
    select(tube, inner, rig)
    heat = addon("features.auto_weight.tasks")
    refused = package("base.refusal").Refused

    def fails(*_arguments):
        raise refused("Bone Heat Weighting: failed to find solution")

    monkeypatch.setattr(heat, "blender_weights_in_steps", fails)
    auto_weight()
    facts = at_hand().facts
    assert facts["heat"] is None and facts["stretch"][1] > 0
    assert "Boneheatfailshere" in drawn(at_hand())


@pytest.mark.parametrize(("less", "measured"), [(0, True), (1, False)])
def test_large_meshes_do_not_wait_for_heat(monkeypatch, less, measured):
    """The time grows with the vertices and with the bones; the largest mesh decides, because the
    window responds between meshes."""
    tube, rig = tube_and_rig()
    most = len(tube.data.vertices) * len(rig.data.bones)
    monkeypatch.setattr(addon("features.auto_weight.tasks"), "MOST_HEAT", most - less)
    select(tube, add_tube("Other", radius=0.4), rig)
    auto_weight()
    assert ("heat" in at_hand().facts) == measured


def test_heat_mesh_by_mesh():
    """Each mesh is processed in a step of its own, with the same result as in one call for all
    meshes."""
    tube, rig = tube_and_rig()
    other = add_tube("Other", radius=0.4)
    task = weighting(rig, tube, other)
    given = addon("blender.read.blender_weights").blender_weights_in_steps
    steps = given(rig, task.reading.meshes, task.problem.skeleton, "BLENDER_HEAT")
    assert next(steps) is None and next(steps) is None
    with pytest.raises(StopIteration) as end:
        next(steps)
    found, seconds = end.value.value
    select(tube, other, rig)
    bpy.ops.object.parent_set(type="ARMATURE_AUTO")
    present = addon("blender.read.read_mesh").present_weights
    expected = [present(ob, task.problem.skeleton) for ob in (tube, other)]
    for one, both in zip(found, expected, strict=True):
        assert all(map(np.array_equal, one, both))
    assert seconds > 0


def test_measuring_heat_can_be_stopped():
    tube, rig = tube_and_rig()
    kind = addon("features.auto_weight.tasks").MeasuredWeighting
    task = kind(package("model.options").Options(pose_count=10))
    task.read(addon("blender.read.targets").Targets(rig, [tube]), bpy.context.view_layer)
    assert task.compared_with_heat
    with pytest.raises(araplbs.Cancelled):
        task.heat_report(lambda *_said: False)
    poses = package("character.pose_sets").measured_poses(task.problem, task.options)
    with pytest.raises(araplbs.Cancelled):
        task.heat_in(poses, lambda *_said: False)


def test_stretch_in_the_actions_of_the_file():
    """Both sets of weights are measured in the animator's own actions. The rig does not change."""
    tube, rig = weighted(bone_spring_stiffness=50)
    keyed(rig, "middle", {1: 0.0, 20: 1.2})
    rig.pose.bones["upper"].rotation_quaternion = (0.9, 0.1, 0.0, 0.0)
    frame, action = bpy.context.scene.frame_current, rig.animation_data.action
    own = [tuple(bone.rotation_quaternion) for bone in rig.pose.bones]
    select(tube, rig)
    auto_weight(bone_spring_stiffness=1)
    before, after = at_hand().facts["actions"]
    assert 0 < before < 1 and 0 < after < 1 and before != after
    assert (bpy.context.scene.frame_current, rig.animation_data.action) == (frame, action)
    assert [tuple(bone.rotation_quaternion) for bone in rig.pose.bones] == own
    assert "Stretchinactions" in drawn(at_hand())
    outcome = at_hand()
    outcome.facts = {"problems": (1, 1), "stretch": (0.2, 0.1), "actions": (0.2, 0.4)}
    assert outcome.verdict and outcome.stretches_more("actions") and not outcome.stretches_more()


def test_actions_are_measured_under_a_pose_set_by_hand():
    """A copy plays the actions, so the rig's pose has no effect on the measurement, and the pose is
    still there after undo."""
    tube, rig = weighted()
    keyed(rig, "middle", {1: 0.0, 20: 1.2})
    select(tube, rig)
    auto_weight()
    expected = at_hand().facts["actions"]
    rig.pose.bones["middle"].rotation_euler = (0.5, 0, 0)
    for _ in range(2):
        bpy.ops.ed.undo_push(message="posed")
    bpy.ops.ed.undo()
    auto_weight()
    assert at_hand().facts["actions"] == pytest.approx(expected, rel=1e-6)
    bpy.ops.ed.undo_push(message="weighted")
    bpy.ops.ed.undo()
    posed = bpy.data.objects["Rig"].pose.bones["middle"]
    assert tuple(posed.rotation_euler) == (0.5, 0, 0)
    assert posed.matrix.to_3x3()[1][1] < 0.9, "it is visible, too"


def test_heat_in_the_actions_of_the_file():
    """Without earlier weights, both numbers for Blender's heat are measured in the same way as
    ours."""
    tube, rig = tube_and_rig()
    keyed(rig, "middle", {1: 0.0, 20: 1.2})
    select(tube, rig)
    auto_weight()
    facts = at_hand().facts
    before, after = facts["actions"]
    assert before is None and after > 0 and facts["heat_actions"] > 0
    assert f"inactions{100 * facts['heat_actions']:.1f}%" in drawn(at_hand())
    heat = facts["heat_actions"]
    tube.vertex_groups.clear()
    tube.modifiers.clear()
    select(tube, rig)
    bpy.ops.object.parent_set(type="ARMATURE_AUTO")
    auto_weight(tube, rig)
    assert at_hand().facts["actions"][0] == pytest.approx(heat, rel=1e-4)


def test_without_actions_nothing_is_said_of_them():
    weighted()
    auto_weight(bone_spring_stiffness=1)
    assert "actions" not in at_hand().facts and "actions" not in drawn(at_hand())


@pytest.mark.parametrize("set_", ["AFTER", "BEFORE"])
@pytest.mark.parametrize("which", ["ALL", "ACTIVE", "MARKED", "RESULT"])
def test_the_box_stays_after_a_repair(which, set_):
    """The box has its actions and both sets of weights, whichever button was pressed and whichever
    weights were displayed; its numbers are those of the repaired weights."""
    tube, rig = weighted(bone_spring_stiffness=50)
    keyed(rig, "middle", {1: 0.0, 20: 1.2})
    select(tube, rig)
    auto_weight(bone_spring_stiffness=1)
    outcome, facts = at_hand(), dict(at_hand().facts)
    other = entries(tube) if which != "RESULT" and set_ == "BEFORE" else None
    outcome.show("AFTER" if which == "RESULT" else set_)
    flaws.speckle(tube, rig)
    flawed = entries(tube)
    select(tube, rig)
    flaws.check()
    flaws.choose("SPECKLE")
    outcome.findings = list(flaws.found().findings)
    outcome.show(set_)
    assert flaws.repair(which=which) == {"FINISHED"}
    repaired, now, first = "AFTER" if which == "RESULT" else set_, entries(tube), outcome
    outcome = at_hand()
    assert outcome.shown() == repaired and now != flawed
    assert first.facts == facts and first.shown() is None, "undo shows the first one again"
    assert facts.keys() == outcome.facts.keys() and "actions" in facts
    at = ("BEFORE", "AFTER").index(repaired)
    for key in ("stretch", "actions"):
        assert outcome.facts[key][1 - at] == facts[key][1 - at]
        assert outcome.facts[key][at] == pytest.approx(facts[key][at], abs=0.01)
    outcome.show("BEFORE" if at else "AFTER")
    assert other in (None, entries(tube))
    outcome.show(repaired)
    assert entries(tube) == now


def test_nothing_to_repair_is_said(capfd):
    """Weights that no repair improves stay, and so do the box and its pictures."""
    tube, rig = weighted(bone_spring_stiffness=50)
    auto_weight(bone_spring_stiffness=1)
    outcome, before = at_hand(), entries(tube)
    kind = package("features.check.findings").Finding
    where = np.array([v.index for v in tube.data.vertices if v.co.z > 1.4])
    outcome.findings = [kind("STRETCH", 0.9, 0, 1, where, 2.0, "it stretches", 0)]
    token, facts = outcome.token, dict(outcome.facts)
    select(tube, rig)
    assert flaws.repair(which="RESULT") == {"FINISHED"}
    assert "Nothing to repair" in capfd.readouterr().out
    assert entries(tube) == before and at_hand() is outcome
    assert (outcome.token, outcome.facts) == (token, facts)
