"""The views of the Result box: colors of stretch, worst poses, pictures of joints, the other
weights while a key is held, and drawings over the 3D view."""

from types import SimpleNamespace

import bpy
import flaws
import numpy as np
import pytest
from rows_of import Rows
from scenes import add_tube, addon, auto_weight, bind, entries, package, select
from test_outcome import at_hand, in_a_window, weighted  # noqa: F401
from test_show_pose import posed


def manager():
    return bpy.context.window_manager


def bad_tube():
    """(tube, rig) with weights that change abruptly, weighted again by Auto-weight."""
    tube, rig = flaws.halved()
    auto_weight()
    return tube, rig


def finding(**more):
    kind = package("features.check.findings").Finding
    return kind("STRETCH", more.pop("severity", 0.9), 0, 1, np.arange(8), 0.5, "Torn.", **more)


def test_the_eye_is_the_choice_of_stretch():
    eye = "araplbs_stretch_shown"
    assert not getattr(manager(), eye) and manager().araplbs_errors == "NONE"
    setattr(manager(), eye, True)
    assert manager().araplbs_errors == "POSES"
    manager().araplbs_errors = "POSE"
    assert getattr(manager(), eye)
    manager().araplbs_errors = "BONES"
    assert not getattr(manager(), eye), "weights are no stretch"
    setattr(manager(), eye, True)
    setattr(manager(), eye, False)
    assert manager().araplbs_errors == "NONE"


def test_the_worst_problem_in_its_pose():
    """The button shows the worst problem that depends on the pose, with colors. Afterwards, the
    former state is restored."""
    _tube, rig = bad_tube()
    outcome, own = at_hand(), posed(rig)
    outcome.findings = [finding(severity=1.0), finding(severity=0.5, pose=2), finding(pose=1)]
    manager().araplbs_errors = "BONES"
    assert bpy.ops.object.araplbs_show_worst() == {"FINISHED"}
    assert flaws.shown().active == 2 and manager().araplbs_errors == "POSE"
    rest = np.array([bone.matrix_local for bone in rig.data.bones])
    np.testing.assert_allclose(posed(rig)[:, :3], outcome.poses[1] @ rest, atol=1e-4)
    bpy.ops.object.araplbs_own_pose()
    np.testing.assert_allclose(posed(rig), own, atol=1e-6)
    assert manager().araplbs_errors == "BONES"
    manager().araplbs_errors = "NONE"
    bpy.ops.object.araplbs_show_worst()
    manager().araplbs_errors = "NONE"  # the artist's own choice stays
    bpy.ops.object.araplbs_own_pose()
    assert manager().araplbs_errors == "NONE"


def test_colors_of_the_mesh_that_is_shown():
    """While the armature is active, the colors are those of the mesh with the problem, not of the
    selected mesh. A bone that was left out follows its parent."""
    tube, rig = bad_tube()
    other = add_tube()
    bind(other, rig)
    outcome, view = at_hand(), addon("operators.error_view").view
    bone, parent = rig.pose.bones["upper"], rig.pose.bones["middle"]
    bone.bone.araplbs_control = package("character.control_bones").REASONS[1][0]
    outcome.findings = [finding(pose=1)]
    select(other, rig)
    assert view.subject(bpy.context) == other
    bpy.ops.object.araplbs_show_worst()
    assert view.subject(bpy.context) == tube
    bpy.context.view_layer.update()
    local = parent.bone.matrix_local.inverted() @ bone.bone.matrix_local
    np.testing.assert_allclose(parent.matrix @ local, bone.matrix, atol=1e-4)
    select(other)
    assert view.subject(bpy.context) == other, "until another object becomes active"
    select(other, rig)
    bpy.ops.object.araplbs_own_pose()
    assert view.subject(bpy.context) == other


def test_no_problem_has_a_pose():
    bad_tube()
    at_hand().findings = [finding()]
    with pytest.raises(RuntimeError, match="No problem depends on the pose"):
        bpy.ops.object.araplbs_show_worst()
    with pytest.raises(RuntimeError, match="There is no picture 0"):
        bpy.ops.object.araplbs_show_worst(index=0)


def drawn_strip(outcome):
    """The pictures of the strip, after they were created."""
    strip = addon("features.auto_weight.strip")
    strip.draw(Rows(), bpy.context, outcome)
    [worker] = strip._making
    worker.join()
    addon("operators.background").running[worker]()
    layout = Rows()
    strip.draw(layout, bpy.context, outcome)
    return [idname for idname, *_rest in layout.buttons]


def test_no_problem_is_left():
    """The joint with the most strain is shown."""
    _tube, rig = bad_tube()
    outcome, own = at_hand(), posed(rig)
    outcome.findings = []
    drawn_strip(outcome)
    assert bpy.ops.object.araplbs_show_worst() == {"FINISHED"}
    worst = max(outcome.seen, key=lambda each: each.strain[1])
    rest = np.array([bone.matrix_local for bone in rig.data.bones])
    wanted = outcome.poses[worst.pose] @ rest
    np.testing.assert_allclose(posed(rig)[:, :3], wanted, atol=1e-4)
    bpy.ops.object.araplbs_own_pose()
    np.testing.assert_allclose(posed(rig), own, atol=1e-6)


def test_pictures_of_joints():
    """A thread creates the pictures once; a click on a picture shows its pose."""
    _tube, rig = bad_tube()
    outcome, strip = at_hand(), addon("features.auto_weight.strip")
    assert outcome.to_draw and outcome.seen is None
    assert drawn_strip(outcome) == ["object.araplbs_show_worst"] * len(outcome.seen)
    assert 0 < len(outcome.seen) <= 4 and outcome.to_draw is None
    assert {each.bone for each in outcome.seen} <= {"middle", "upper"}
    before, now = np.sum([each.strain for each in outcome.seen], axis=0)
    assert before > now > 0, "the tube was worse"
    pictures = list(strip._previews[0].values())[-2 * len(outcome.seen) :]
    for each, preview in zip(outcome.seen, pictures[1::2], strict=True):
        assert all(picture.any() for picture in each.pictures)
        kept = np.empty(4 * 256 * 256, np.float32)
        preview.image_pixels_float.foreach_get(kept)
        shown = kept.reshape(256, 256, 4)[::-1]
        np.testing.assert_allclose(shown * 255, each.pictures[1], atol=1)
    assert bpy.ops.object.araplbs_show_worst(index=0) == {"FINISHED"}
    rest = np.array([bone.matrix_local for bone in rig.data.bones])
    wanted = outcome.poses[outcome.seen[0].pose] @ rest
    np.testing.assert_allclose(posed(rig)[:, :3], wanted, atol=1e-4)
    bpy.ops.object.araplbs_own_pose()
    layout, repaired = Rows(), outcome.renewed("AFTER", [], {"stretch": 0.1})
    strip.draw(layout, bpy.context, repaired)
    assert not layout.seen, "pictures of weights that are no longer there are not shown"


def test_pictures_can_be_told_apart(monkeypatch):
    strip = addon("features.auto_weight.strip")
    bones = ["LeftArm", "LeftForeArm", "LeftArm", "RightUpLeg"]
    shown = SimpleNamespace(seen=[SimpleNamespace(bone=bone) for bone in bones])
    monkeypatch.setattr(strip, "icons_of", lambda *_: [(0, 0)] * len(bones))
    layout = Rows()
    strip.draw(layout, bpy.context, shown)
    assert len(set(layout.words)) == len(bones)


def test_pictures_after_a_repair():
    """New pictures show the repaired weights next to the earlier ones."""
    tube, rig, _places = flaws.flawed("STRETCH")
    auto_weight()
    outcome = at_hand()
    drawn_strip(outcome)
    first = outcome.seen
    flaws.stretch(tube, rig)
    select(tube, rig)
    flaws.check()
    outcome.findings = list(flaws.found().findings)
    assert bpy.ops.object.araplbs_repair(which="RESULT") == {"FINISHED"}
    outcome = at_hand()
    assert outcome.to_draw
    drawn_strip(outcome)
    assert outcome.seen is not first
    was = {each.bone: each.strain[0] for each in first}
    for each in outcome.seen:
        assert each.pose < len(outcome.poses)
        if each.bone in was:
            assert (each.strain[0] is None) == (was[each.bone] is None)


def test_pictures_without_weights_before():
    weighted()
    outcome = at_hand()
    drawn_strip(outcome)
    assert outcome.seen and all(each.strain[0] is None for each in outcome.seen)


def test_the_other_weights_while_a_key_is_held():
    """The operator shows the other weights only until the key is released."""
    tube, _rig = bad_tube()
    kind = addon("features.auto_weight.show_worst").OBJECT_OT_araplbs_peek_weights
    assert kind.poll(bpy.context)
    outcome, after = at_hand(), entries(tube)
    outcome.show("BEFORE")
    before = entries(tube)
    outcome.show("AFTER")
    assert before != after

    names = ("modal", "_put_back", "abandon", "bl_label")

    class Event:
        def __init__(self, kind, value):
            self.type, self.value = kind, value

    for end in (
        Event("Y", "RELEASE"),
        Event("ESC", "PRESS"),
        Event("WINDOW_DEACTIVATE", "NOTHING"),
    ):
        held = type("Held", (), {name: getattr(kind, name) for name in names})()
        held._outcome, held._key, held._shown = outcome, "Y", outcome.shown()
        outcome.show("BEFORE")
        assert held.modal(bpy.context, Event("Y", "PRESS")) == {"RUNNING_MODAL"}
        assert held.modal(bpy.context, Event("MOUSEMOVE", "NOTHING")) == {"PASS_THROUGH"}
        assert entries(tube) == before
        assert held.modal(bpy.context, end) == {"FINISHED"}
        assert entries(tube) == after and outcome.shown() == "AFTER"
    bpy.ops.object.mode_set(mode="EDIT")
    assert not kind.poll(bpy.context), "the key is left to others"


def test_nothing_to_hold_the_key_for():
    weighted()
    kind = addon("features.auto_weight.show_worst").OBJECT_OT_araplbs_peek_weights
    assert not kind.poll(bpy.context), "there was nothing before"


def test_dots_let_the_surface_be_seen():
    """Each cell of the screen has at most one dot, the one nearest to the eye, and no dot lies
    behind the eye."""
    points = package("measures.thinned")
    grid = np.stack(np.meshgrid(np.linspace(-1, 1, 200), np.linspace(-1, 1, 200)), -1)
    flat = np.column_stack([grid.reshape(-1, 2), np.zeros(40000)])
    few = points.thinned(flat, np.eye(4), 180, 90)
    assert 150 <= len(few) <= 20 * 10 + 31
    cells = np.floor((flat[few, :2] + 1) / 2 * [180, 90] / points.CELL)
    assert len(np.unique(cells, axis=0)) == len(few)
    both = np.array([(0.01, 0.01, 0.5), (0.012, 0.01, -0.5), (3, 0, 0)])
    assert points.thinned(both, np.eye(4), 100, 100).tolist() == [1]
    behind = np.eye(4)
    behind[3, 3] = -1
    assert len(points.thinned(both, behind, 100, 100)) == 0


def test_shares_under_the_mouse():
    """The list contains the shares of the deform bones."""
    hover = addon("features.edits.hover")
    tube, rig = weighted()
    rig.data.bones["upper"].use_deform = False
    for group in list(tube.vertex_groups):
        tube.vertex_groups.remove(group)
    for name, weight in (("lower", 0.6), ("middle", 0.2), ("upper", 0.7), ("no bone", 0.5)):
        tube.vertex_groups.new(name=name).add([3], weight, "REPLACE")
    shares = hover.shares_of(tube, rig, 3)
    assert [name for name, _share in shares] == ["lower", "middle"]
    assert [share for _name, share in shares] == pytest.approx([0.75, 0.25])
    assert hover.shares_of(tube, rig, 4) == []


def test_one_scale_of_stretch():
    """The view and the page use the same colors for stretch, and different ones for weights."""
    scale = package("measures.strain_colors")
    assert package("features.compare.figures").STRAIN_COLORS is scale.STRAIN_COLORS
    assert addon("operators.error_view").strain_colors is scale.strain_colors
    assert addon("panels.overlay").strain_colors is scale.strain_colors
    values = np.linspace(0, 1, 21)
    far = np.abs(scale.strain_colors(values) / 255 - scale.share_colors(values)[:, :3]).max(1)
    assert far.min() > 0.1, "no stretch has the color of the same share of weight"


def test_the_box_names_the_key_where_it_helps():
    """While the rig is in a pose from the box, the key is named next to the button that restores
    the rig's own pose."""
    bad_tube()
    outcome, box = at_hand(), addon("panels.result_box")
    outcome.findings = [finding(pose=1)]

    def words():
        layout = Rows()
        box.draw_result(layout, bpy.context, outcome)
        # without a window, there is no width, so each letter is on a line of its own
        return "".join(word for word in layout.words if word).replace(" ", "")

    assert "HoldYtoseetheotherweights" not in words()
    bpy.ops.object.araplbs_show_worst()
    assert "HoldYtoseetheotherweights" in words()
    bpy.ops.object.araplbs_own_pose()
    assert "HoldYtoseetheotherweights" not in words()
