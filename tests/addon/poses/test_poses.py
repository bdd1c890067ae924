"""Joint limits and animation reach the engine, and a pose set by hand is restored exactly."""

import math

import araplbs
import bpy
import numpy as np
import pytest
from scenes import addon, auto_weight, keyed, snapshot, tube_and_rig


def limits_of(rig):
    return addon("blender.read.read_armature").read_armature(rig, True).limits


def test_ik_limits():
    _tube, rig = tube_and_rig()
    middle = rig.pose.bones["middle"]
    middle.use_ik_limit_x, middle.ik_min_x, middle.ik_max_x = True, -0.1, 1.5
    limits = limits_of(rig)
    assert limits[1, 0] == pytest.approx([-0.1, 1.5])
    assert np.isnan(limits[1, 1:]).all() and np.isnan(limits[[0, 2]]).all()
    assert np.isnan(addon("blender.read.read_armature").read_armature(rig, False).limits).all()


def add_limit(bone, low=-0.5, high=0.25, axis="z"):
    limit = bone.constraints.new("LIMIT_ROTATION")
    limit.owner_space = "LOCAL"
    setattr(limit, f"use_limit_{axis}", True)
    setattr(limit, f"min_{axis}", low)
    setattr(limit, f"max_{axis}", high)
    return limit


def test_limit_rotation():
    _tube, rig = tube_and_rig()
    limit = add_limit(rig.pose.bones["upper"])
    assert limits_of(rig)[2, 2] == pytest.approx([-0.5, 0.25])
    for name, off in (
        ("mute", True),
        ("owner_space", "WORLD"),
        ("influence", 0.0),
        ("use_limit_z", False),
    ):
        on = getattr(limit, name)
        setattr(limit, name, off)
        assert np.isnan(limits_of(rig)).all(), name
        setattr(limit, name, on)
    assert not np.isnan(limits_of(rig)[2, 2]).any()


def test_both_kinds_of_limits_hold():
    _tube, rig = tube_and_rig()
    bone = rig.pose.bones["upper"]
    add_limit(bone, -0.5, 0.25)
    bone.use_ik_limit_z, bone.ik_min_z, bone.ik_max_z = True, -0.2, 1.0
    assert limits_of(rig)[2, 2] == pytest.approx([-0.2, 0.25])


def test_limits_that_do_not_limit():
    _tube, rig = tube_and_rig()
    limit = add_limit(rig.pose.bones["upper"], -math.radians(175), math.pi)
    assert np.isnan(limits_of(rig)).all()
    limit.min_z = -math.radians(160)
    assert not np.isnan(limits_of(rig)[2, 2]).any()


def test_limits_reach_the_poses():
    """At a hinge, poses sampled by the engine stay within the limits of the rig."""
    _tube, rig = tube_and_rig()
    bone = rig.pose.bones["middle"]
    for axis, low, high in (("x", 0.0, 0.4), ("y", 0.0, 0.0), ("z", 0.0, 0.0)):
        setattr(bone, f"use_ik_limit_{axis}", True)
        setattr(bone, f"ik_min_{axis}", low)
        setattr(bone, f"ik_max_{axis}", high)
    skeleton = addon("blender.read.read_armature").read_armature(rig, True)
    poses = araplbs.sample_poses(
        skeleton.heads,
        skeleton.tails,
        skeleton.parents,
        200,
        bone_roll_axes=skeleton.roll_axes,
        bone_limits=skeleton.limits,
    )[:, :, :, :3]
    frame = np.array(rig.data.bones["middle"].matrix_local.to_3x3())
    local = np.linalg.inv(frame) @ np.linalg.inv(poses[:, 0]) @ poses[:, 1] @ frame
    angles = np.arctan2(local[:, 2, 1], local[:, 1, 1])
    assert angles.min() >= -1e-6 and angles.max() <= 0.4 + 1e-6 and np.ptp(angles) > 0.3
    assert np.allclose(local[:, 0], [1, 0, 0], atol=1e-6), "no turn but about X"


def animate(rig, name, bone="middle", last=21, angle=1.0):
    return keyed(rig, bone, {1: 0.0, last: angle}, name)


def read(rig, which, most=40):
    skeleton = addon("blender.read.read_armature").read_armature(rig, False)
    module = addon("blender.poses.read_poses")
    return module.read_poses(rig, skeleton, which, most, bpy.context.view_layer).transforms


def bend_of(poses, bone=1):
    return np.arctan2(poses[:, bone, 2, 1], poses[:, bone, 1, 1])


def test_active_action():
    _tube, rig = tube_and_rig()
    animate(rig, "Bend")
    poses = read(rig, "ACTIVE")
    assert poses.shape == (21, 3, 3, 4)
    bends = bend_of(poses)
    assert bends[0] == pytest.approx(0, abs=1e-6) and abs(bends[-1]) == pytest.approx(1, abs=1e-5)
    assert np.allclose(poses[:, 0], np.eye(3, 4), atol=1e-6), "the bone below does not move"
    head = np.array([0, 0, 1, 1.0])
    assert np.allclose(poses[:, 1] @ head, head[:3], atol=1e-6), "turned about its own head"
    assert read(rig, "ACTIVE", 5).shape[0] == 5
    assert np.allclose(bend_of(read(rig, "ACTIVE", 2)), bends[[0, -1]], atol=1e-6)


def test_all_actions():
    _tube, rig = tube_and_rig()
    animate(rig, "One", last=11, angle=0.5)
    animate(rig, "Two", bone="upper", last=31, angle=-0.75)
    stranger = bpy.data.actions.new("Camera")  # moves nothing of this rig
    if hasattr(stranger, "fcurves"):
        stranger.fcurves.new("location", index=0).keyframe_points.insert(1, 1)
    poses = read(rig, "ALL", 100)
    assert len(poses) == 11 + 31
    assert np.abs(bend_of(poses)[:11]).max() == pytest.approx(0.5, abs=1e-5)
    assert np.abs(bend_of(poses, 2)[11:]).max() == pytest.approx(0.75, abs=1e-5)
    poses = read(rig, "ALL", 14)
    assert len(poses) == 14 and (np.abs(bend_of(poses)) > 1e-3).sum() >= 2


def test_actions_with_several_slots():
    """Since Blender 4.4, one action can contain clips for several objects. Only ours are used, each
    once."""
    _tube, rig = tube_and_rig()
    action = animate(rig, "Shared", last=11, angle=0.5)
    if not hasattr(action, "slots"):
        pytest.skip("no slots before Blender 4.4")
    other = action.slots.new("OBJECT", "Other")
    rig.animation_data.action_slot = other
    posed = rig.pose.bones["upper"]
    posed.rotation_mode = "XYZ"
    posed.rotation_euler = (0.9, 0, 0)
    posed.keyframe_insert("rotation_euler", frame=1)
    posed.rotation_euler = (0, 0, 0)
    before = snapshot()
    poses = read(rig, "ALL", 100)
    assert np.abs(bend_of(poses)).max() == pytest.approx(0.5, abs=1e-5)
    assert np.abs(bend_of(poses, 2)).max() == pytest.approx(0.9, abs=1e-5)
    assert snapshot() == before and rig.animation_data.action_slot == other


def test_all_actions_without_animation_data():
    _tube, rig = tube_and_rig()
    animate(rig, "Bend").use_fake_user = True
    rig.animation_data_clear()
    before = snapshot()
    assert np.abs(bend_of(read(rig, "ALL"))).max() == pytest.approx(1, abs=1e-5)
    assert rig.animation_data is None and snapshot() == before


def test_nla_is_played_as_it_is():
    _tube, rig = tube_and_rig()
    action = animate(rig, "Bend", last=11)
    track = rig.animation_data.nla_tracks.new()
    strip = track.strips.new("Strip", 101, action)
    rig.animation_data.action = None
    poses = read(rig, "ACTIVE")
    assert len(poses) == round(strip.frame_end - strip.frame_start) + 1
    assert np.abs(bend_of(poses)).max() == pytest.approx(1, abs=1e-5)


def test_constraints_are_evaluated():
    """The poses are the ones that Blender shows. They include a copied rotation although it has no
    key."""
    _tube, rig = tube_and_rig()
    animate(rig, "Bend")
    copy = rig.pose.bones["upper"].constraints.new("COPY_ROTATION")
    copy.target, copy.subtarget = rig, "middle"
    copy.owner_space = copy.target_space = "LOCAL"
    poses = read(rig, "ACTIVE")
    assert np.abs(bend_of(poses, 2)[-1]) == pytest.approx(2, abs=1e-4)


def test_no_animation():
    tube, rig = tube_and_rig()
    for which, message in (("ACTIVE", "'Rig' has no action"), ("ALL", "No action in this file")):
        with pytest.raises(RuntimeError, match=message):
            auto_weight(tube, rig, animation=which)
    assert not tube.vertex_groups
