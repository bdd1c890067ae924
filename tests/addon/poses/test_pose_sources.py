"""Poses from the data of a file: pose assets and marked frames, the weights of these poses, and the
panel's text about them."""

import math

import araplbs
import bpy
import numpy as np
import pytest
from deep import deep_snapshot, difference, without_memory, without_weights
from mathutils import Quaternion
from scenes import (
    addon,
    assert_good,
    auto_weight,
    deform_names,
    entries,
    keyed,
    select,
    snapshot,
    tube_and_rig,
    weighting,
    weights,
)
from test_poses import animate, bend_of, read


def made(rig, name, bone, keys):
    """A new action that does not play, constant after the last key."""
    action = keyed(rig, bone, keys, name)
    rig.animation_data.action = None
    return action


def library():
    """Three poses, and assets that do not belong to this rig: one of several frames, an action that
    is not an asset, one for the bones of another rig."""
    tube, rig = tube_and_rig()
    made(rig, "a", "middle", {1: 0.5}).asset_mark()
    made(rig, "b", "upper", {7: -0.75}).asset_mark()
    made(rig, "c", "lower", {1: 0.25}).asset_mark()
    made(rig, "Walk", "middle", {1: 0, 9: 1.5}).asset_mark()
    made(rig, "Plain", "middle", {1: 0, 21: 1.25})
    stranger = made(rig, "Stranger", "upper", {1: 1.0})
    stranger.asset_mark()
    for _slot, curve in addon("blender.poses.pose_sources").action_curves(stranger):
        curve.data_path = curve.data_path.replace("upper", "of another rig")
    bpy.context.view_layer.update()
    return tube, rig


def whole(rig, which, most=40):
    """The Poses, with their weights."""
    skeleton = addon("blender.read.read_armature").read_armature(rig, False)
    layer = bpy.context.view_layer
    return addon("blender.poses.read_poses").read_poses(rig, skeleton, which, most, layer)


def mark(frames, owner=None):
    for frame in frames:
        if owner:
            owner.pose_markers.new("m").frame = frame
        else:
            bpy.context.scene.timeline_markers.new("m", frame=frame)


def test_pose_assets():
    _tube, rig = library()
    poses = read(rig, "POSE_LIBRARY")
    assert len(poses) == 3
    bends = np.column_stack([bend_of(poses, bone) for bone in range(3)])
    turned = np.abs(np.diff(bends, prepend=0, axis=1))  # each bone against the one below
    np.testing.assert_allclose(turned, [[0, 0.5, 0], [0, 0, 0.75], [0.25, 0, 0]], atol=1e-5)


def test_pose_assets_start_from_rest():
    """Each pose asset starts from rest, neither from a pose set by hand nor from another asset."""
    _tube, rig = library()
    expected = read(rig, "POSE_LIBRARY")
    rig.pose.bones["lower"].rotation_mode = "QUATERNION"
    rig.pose.bones["lower"].rotation_quaternion = Quaternion((0.8, 0.6, 0, 0))
    rig.pose.bones["upper"].location = (0.1, 0.2, 0.3)
    rig.pose.bones["middle"].scale = (2, 2, 2)
    bpy.context.view_layer.update()
    poses = read(rig, "POSE_LIBRARY")
    np.testing.assert_allclose(poses[:2], expected[:2], atol=1e-5)


def test_most_poses_are_spread_over_the_library():
    _tube, rig = library()
    some = read(rig, "POSE_LIBRARY", 2)
    np.testing.assert_allclose(some, read(rig, "POSE_LIBRARY")[[0, 2]], atol=1e-6)


def test_timeline_markers_and_pose_markers():
    _tube, rig = tube_and_rig()
    action = animate(rig, "Bend")  # linear or eased from frame 1 to 21
    mark([5, 11])
    mark([11, 21], action)
    poses = read(rig, "MARKERS")
    np.testing.assert_allclose(poses, read(rig, "ACTIVE")[[4, 10, 20]], atol=1e-6)
    np.testing.assert_allclose(read(rig, "MARKERS", 2), poses[[0, 2]], atol=1e-6)


def test_marked_frames_of_the_nla():
    _tube, rig = tube_and_rig()
    action = animate(rig, "Bend", last=11)
    rig.animation_data.nla_tracks.new().strips.new("Strip", 101, action)
    rig.animation_data.action = None
    mark([111])
    poses = read(rig, "MARKERS")
    assert len(poses) == 1 and abs(bend_of(poses)[0]) == pytest.approx(1, abs=1e-5)


def by_hand(rig):
    """Makes unkeyed changes in the middle of an action, in all rotation modes."""
    animate(rig, "Played", bone="upper")
    mark([3, 9], rig.animation_data.action)
    mark([15])
    bpy.context.scene.frame_set(7, subframe=0.5)
    middle, lower = rig.pose.bones["middle"], rig.pose.bones["lower"]
    middle.rotation_euler = (0.123, 0.2, 0.3)
    lower.rotation_mode = "AXIS_ANGLE"
    lower.rotation_axis_angle = (0.7, 0.6, 0.8, 0)
    lower.rotation_quaternion = (0.8, 0.6, 0, 0)
    lower.location, lower.scale = (0.1, 0.02, 0.3), (1.1, 0.9, 1)
    rig.pose.bones["upper"].rotation_euler = (0.4, 0.1, 0)  # the action has keys for this
    lower["stretch"] = 0.25
    rig.location.x = 0.5
    rig.data.pose_position = "REST"
    bpy.context.view_layer.update()


SOURCES = ["ACTIVE", "ALL", "POSE_LIBRARY", "MARKERS"]


@pytest.mark.parametrize("which", SOURCES)
def test_the_scene_is_untouched(which):
    tube, rig = library()
    by_hand(rig)
    select(tube, rig)
    before = deep_snapshot()
    assert len(read(rig, which)) >= 3
    bpy.context.view_layer.update()  # as a redraw would: in Rest Position again
    assert difference(before, deep_snapshot()) == {}
    auto_weight(animation=which, animation_frames=10, pose_count=10)
    assert_good(tube, rig)
    changes = without_weights(difference(before, deep_snapshot()), tube)
    assert {path for path in changes if "is_saved" not in path} == set(), changes


@pytest.mark.parametrize("which", SOURCES)
def test_the_scene_is_untouched_after_an_error(which, monkeypatch):
    tube, rig = library()
    by_hand(rig)
    select(tube, rig)
    before = snapshot()
    monkeypatch.setattr(addon("blender.poses.read_poses"), "_evaluate", lambda *_a: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        read(rig, which)
    bpy.context.view_layer.update()
    assert snapshot() == before


@pytest.mark.parametrize("which", SOURCES)
def test_undo_keeps_a_pose_set_by_hand(which):
    """No other pose is ever played on the rig itself, because Blender would evaluate the action
    again at undo, and values set by hand without a key would be lost."""
    tube, rig = library()
    by_hand(rig)
    select(tube, rig)
    for _ in range(2):
        bpy.ops.ed.undo_push(message="posed")
    bpy.ops.ed.undo()
    before = without_memory(deep_snapshot())
    assert bpy.data.objects["Rig"].pose.bones["upper"].rotation_euler.x == pytest.approx(0.4)
    auto_weight(animation=which, animation_frames=10, pose_count=10)
    bpy.ops.ed.undo_push(message="weighted")
    after = without_memory(deep_snapshot())
    bpy.ops.ed.undo()
    assert difference(before, without_memory(deep_snapshot())) == {}
    bpy.ops.ed.redo()
    assert difference(after, without_memory(deep_snapshot())) == {}
    assert bpy.data.objects["Rig"].pose.bones["upper"].rotation_euler.x == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("which", "message"),
    [
        ("POSE_LIBRARY", "No pose asset in this file moves bones of 'Rig'"),
        ("MARKERS", "No frame is marked: add markers to the timeline, or to the action of 'Rig'"),
    ],
)
def test_there_are_none(which, message):
    tube, rig = tube_and_rig()
    animate(rig, "Bend")
    before = deep_snapshot()
    with pytest.raises(RuntimeError, match=message):
        auto_weight(tube, rig, animation=which)
    select(tube, rig)
    assert not tube.vertex_groups
    assert not {p for p in difference(before, deep_snapshot()) if "selected" not in p}


def test_markers_of_what_is_not_animated():
    tube, rig = tube_and_rig()
    mark([3])
    with pytest.raises(RuntimeError, match="'Rig' has no action"):
        auto_weight(tube, rig, animation="MARKERS")


# The weights of poses


def test_actions_say_how_often_their_poses_count():
    _tube, rig = library()
    assert whole(rig, "POSE_LIBRARY").weights is None
    bpy.data.actions["b"]["araplbs_weight"] = 2.5
    bpy.data.actions["c"]["araplbs_weight"] = 0
    np.testing.assert_array_equal(whole(rig, "POSE_LIBRARY").weights, [1, 2.5, 0])
    poses = whole(rig, "ALL", 100)
    assert len(poses) == len(poses.weights) and set(poses.weights) == {0, 1, 2.5}
    assert whole(rig, "ALL", 100).transforms.shape[0] > 20


@pytest.mark.parametrize("value", [-1.0, 1e9, 1e-9, math.nan, math.inf, "twice", [1.0, 2.0]])
def test_bad_weights_of_actions(value):
    tube, rig = library()
    bpy.data.actions["b"]["araplbs_weight"] = value
    for which in ("POSE_LIBRARY", "ALL"):
        with pytest.raises(RuntimeError, match=r"Action 'b' has araplbs_weight .*: it must be 0"):
            auto_weight(tube, rig, animation=which)
    assert not tube.vertex_groups


def solver_arguments(tube, rig, **options):
    """The input of the solver."""
    return weighting(rig, tube, **options).problem.arguments


def test_the_option_reaches_the_solver():
    tube, rig = library()
    assert "pose_weights" not in solver_arguments(tube, rig, animation="POSE_LIBRARY")
    arguments = solver_arguments(tube, rig, animation="POSE_LIBRARY", pose_weight=4.0)
    np.testing.assert_array_equal(arguments["pose_weights"], [4, 4, 4])
    bpy.data.actions["a"]["araplbs_weight"] = 0.5
    arguments = solver_arguments(tube, rig, animation="POSE_LIBRARY", pose_weight=4.0)
    np.testing.assert_array_equal(arguments["pose_weights"], [2, 4, 4])


def test_random_poses_of_bendy_bones_count_once():
    """The engine treats random poses of bendy bones as the caller's poses, but counts them once."""
    tube, rig = library()
    rig.data.bones["middle"].bbone_segments = 3
    arguments = solver_arguments(
        tube, rig, animation="POSE_LIBRARY", pose_weight=3.0, pose_count=10
    )
    np.testing.assert_array_equal(arguments["pose_weights"], [1] * 10 + [3] * 3)
    assert auto_weight(tube, rig, animation="POSE_LIBRARY", pose_weight=3.0) == {"FINISHED"}


def test_weight_one_changes_no_bit():
    tube, rig = library()
    auto_weight(tube, rig, animation="POSE_LIBRARY", pose_count=10)
    plain = entries(tube)
    auto_weight(tube, rig, animation="POSE_LIBRARY", pose_count=10, pose_weight=1.0)
    assert entries(tube) == plain
    auto_weight(tube, rig, animation="POSE_LIBRARY", pose_count=10, pose_weight=20.0)
    assert entries(tube) != plain


def test_more_weight_serves_the_poses():
    tube, rig = tube_and_rig()
    made(rig, "a", "middle", {1: 2.0}).asset_mark()
    poses = read(rig, "POSE_LIBRARY")
    tube.data.calc_loop_triangles()
    vertices = np.array([v.co for v in tube.data.vertices])
    triangles = np.array([t.vertices for t in tube.data.loop_triangles])
    energies = []
    for often in (0.01, 1.0, 100.0):
        auto_weight(tube, rig, animation="POSE_LIBRARY", pose_count=10, pose_weight=often)
        energies.append(
            araplbs.energy(vertices, triangles, weights(tube, deform_names(rig)), poses)
        )
    assert energies[2] < energies[1] < energies[0]


def test_preserve_volume_and_joints_take_weights():
    tube, rig = library()
    tube.modifiers[0].use_deform_preserve_volume = True
    assert auto_weight(tube, rig, animation="POSE_LIBRARY", pose_weight=3.0) == {"FINISHED"}
    select(tube, rig)
    done = bpy.ops.object.araplbs_joints(
        "EXEC_DEFAULT", animation="POSE_LIBRARY", pose_weight=3.0, pose_count=6
    )
    assert done == {"FINISHED"}


# The panel's line


def test_what_is_found():
    _tube, rig = library()
    sources = addon("blender.poses.pose_sources")
    found = sources.find_sources(rig, bpy.context.scene)
    assert (found.assets, found.actions, found.markers, found.plays) == (3, 5, 0, False)
    assert str(found) == "3 pose assets, 5 actions"
    assert found.lacks("ACTIVE") == "No action or NLA strip is playing"
    assert found.lacks("MARKERS") == "No frame is marked"
    assert not found.lacks("POSE_LIBRARY") and not found.lacks("ALL") and not found.lacks("NONE")
    rig.animation_data.action = bpy.data.actions["Plain"]
    mark([4])
    found = sources.find_sources(rig, bpy.context.scene)
    assert str(found) == "3 pose assets, 5 actions, 1 marked frame"
    assert not any(found.lacks(which) for which in SOURCES)


def test_nothing_is_found():
    _tube, rig = tube_and_rig()
    found = addon("blender.poses.pose_sources").find_sources(rig, bpy.context.scene)
    assert str(found) == "nothing"
    assert all(found.lacks(which) for which in SOURCES)


def test_redraws_look_once(monkeypatch):
    _tube, rig = library()
    sources, looks = addon("blender.poses.pose_sources"), []
    find = sources.find_sources
    monkeypatch.setattr(sources, "find_sources", lambda *a: looks.append(1) or find(*a))
    counts = sources.SourceCounts()
    for _ in range(5):
        assert counts.of(rig, bpy.context.scene).assets == 3
    assert len(looks) == 1
    bpy.data.actions["b"].asset_clear()
    assert counts.of(rig, bpy.context.scene).assets == 2, "another number of assets"
    mark([4])
    assert counts.of(rig, bpy.context.scene).markers == 1
    assert len(looks) == 3
    counts._until = 0.0
    counts.of(rig, bpy.context.scene)
    assert len(looks) == 4, "what is old is looked at again"
