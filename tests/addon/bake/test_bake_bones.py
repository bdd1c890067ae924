"""Bake Modifiers to Weights: new bones with keys, all actions, and frames stored in a file."""

import struct
import tracemalloc
from pathlib import Path

import bpy
import numpy as np
import pytest
from bake_scenes import bake, points_of, refused
from command import opened, run, save
from scenes import (
    addon,
    auto_weight,
    deform_names,
    keyed,
    package,
    select,
    snapshot,
    tube_and_rig,
    weights,
)

FRAMES = 12


def curve_paths(action):
    return {
        curve.data_path
        for _slot, curve in addon("blender.poses.pose_sources").action_curves(action)
    }


def turn(rig, name, *angles):
    """An action that rotates a bone about X, keyed over all frames."""
    frames = np.linspace(1, FRAMES, len(angles))
    return keyed(rig, name, dict(zip(frames, angles, strict=True)), f"Turn {name}")


@pytest.fixture
def sliding(tmp_path):
    """A tube whose upper half slides and rotates by a cache, unlike any of its bones."""
    tube, rig = tube_and_rig()
    auto_weight(tube, rig)
    rest = np.array([v.co for v in tube.data.vertices])
    upper, frames = rest[:, 2] > 1.5, []
    for angle in np.linspace(0, 1, FRAMES):
        c, s = np.cos(angle), np.sin(angle)
        posed = rest.copy()
        posed[upper] = posed[upper] @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]]) + [angle, 0, 0]
        frames.append(posed)
    path = tmp_path / "tube.pc2"
    head = struct.pack("<12siiffi", b"POINTCACHE2", 1, len(rest), 1.0, 1.0, FRAMES)
    path.write_bytes(head + np.array(frames, "<f4").tobytes())
    cache = tube.modifiers.new("Cache", "MESH_CACHE")
    cache.cache_format, cache.filepath, cache.frame_start = "PC2", str(path), 1.0
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, FRAMES
    bpy.context.scene.frame_set(1)
    return tube, rig, frames


def check_motion(tube, frames):
    for frame in range(1, FRAMES + 1):
        bpy.context.scene.frame_set(frame)
        assert np.abs(points_of(tube) - frames[frame - 1]).max() < 2e-3


def test_new_bones_move_what_no_bone_moved(sliding):
    tube, rig, frames = sliding
    bpy.context.scene.frame_set(FRAMES)
    assert bake(tube, rig, poses="SCENE", new_bones=2, smoothness=0.0, turn_off=True) == {
        "FINISHED"
    }
    new = [bone for bone in rig.data.bones if bone.name.startswith("Bake.")]
    assert [bone.name for bone in new] == ["Bake.001", "Bake.002"]
    assert all(bone.use_deform and bone.parent is None for bone in new)
    assert not tube.modifiers["Cache"].show_viewport
    assert np.abs(points_of(tube) - frames[-1]).max() < 2e-3  # without a change of the frame
    check_motion(tube, frames)
    names = ["lower", "middle", "upper", *(bone.name for bone in new)]
    np.testing.assert_allclose(weights(tube, names).sum(1), 1, atol=1e-6)
    assert bake(tube, rig, poses="SCENE", new_bones=1) == {"FINISHED"}
    assert "Bake.003" in rig.data.bones  # other names than there are


def test_new_bones_of_several_meshes(sliding):
    tube, rig, frames = sliding
    other = tube.copy()
    other.data = tube.data.copy()
    bpy.context.scene.collection.objects.link(other)
    assert bake(tube, other, rig, poses="SCENE", new_bones=2, smoothness=0.0, turn_off=True) == {
        "FINISHED"
    }
    assert sum(bone.name.startswith("Bake.") for bone in rig.data.bones) == 4
    check_motion(tube, frames)
    check_motion(other, frames)


def test_new_bones_are_refused(sliding):
    tube, rig, _frames = sliding
    refused("bake scene frames or all actions, not random poses", tube, rig, new_bones=2)
    action = turn(rig, "upper", 0.0, 1.0)
    data = rig.animation_data
    strip = data.nla_tracks.new().strips.new("Strip", 1, action)
    data.action = None
    data.nla_tracks[0].select = strip.select = True
    data.nla_tracks.active = data.nla_tracks[0]
    data.use_tweak_mode = True
    assert data.use_tweak_mode
    refused("'Rig' is in NLA tweak mode: exit tweak mode", tube, rig, poses="SCENE", new_bones=2)


@pytest.fixture
def acting():
    """A tube with a Corrective Smooth, and an action for each of two bones."""
    tube, rig = tube_and_rig()
    auto_weight(tube, rig)
    tube.modifiers.new("Smooth", "CORRECTIVE_SMOOTH").iterations = 15
    turn(rig, "middle", 0.0, 1.2)
    turn(rig, "upper", 0.0, 1.2)
    return tube, rig


def test_all_actions(acting):
    """The frames of both actions are used. Nothing changes except weights."""
    tube, rig = acting
    task = addon("features.bake.task").BakeTask(
        package("features.bake").BakeOptions(poses="ALL", frames=20)
    )
    find = addon("blender.read.targets").find_targets
    select(tube, rig)
    before = snapshot()
    task.read(find(bpy.context), bpy.context.view_layer)
    assert snapshot() == before
    assert [take.action for take in task.reading.takes] == ["Turn middle", "Turn upper"]
    [problem] = task.reading.problems
    assert len(problem.frames) == len(problem.transforms) == 20
    moves = [
        np.abs(problem.transforms[:, k] - problem.transforms[0, k]).max((1, 2)) for k in (1, 2)
    ]
    both = moves[0] > 0.1
    assert 5 < both.sum() < 15 and not moves[0][-5:].any() and moves[1][-1] > 0.1
    was = before["Tube"].pop("weights")
    assert bake(tube, rig, poses="ALL", frames=20) == {"FINISHED"}
    after = snapshot()
    assert after["Tube"].pop("weights") != was
    assert after == before


def test_all_actions_with_new_bones(acting):
    """Every action gets keys for the new bones."""
    tube, rig = acting
    playing = rig.animation_data.action
    assert bake(tube, rig, poses="ALL", frames=20, new_bones=1) == {"FINISHED"}
    assert rig.animation_data.action == playing
    for action in bpy.data.actions:
        assert 'pose.bones["Bake.001"].location' in curve_paths(action)


def test_no_action(sliding):
    tube, rig, _frames = sliding
    refused("No action in this file moves bones of 'Rig'", tube, rig, poses="ALL")


def test_simulations_want_the_scene(acting):
    tube, rig = acting
    tube.modifiers.new("Cloth", "CLOTH")
    refused("'Tube' is simulated: bake Scene Frames", tube, rig, poses="ALL")


def test_frames_leave_nothing_behind(acting, monkeypatch):
    """Frames are stored in a file of the temporary folder, which is removed afterwards."""
    tube, rig = acting
    kept = []
    module = package("disk.frame_file")
    appended = module.FrameFile.append

    def append(self, points):
        appended(self, points)
        kept.append(self)

    monkeypatch.setattr(module.FrameFile, "append", append)
    folder = Path(bpy.app.tempdir)
    before = set(folder.iterdir())
    assert bake(tube, rig, frames=FRAMES) == {"FINISHED"}
    assert len(kept) == FRAMES and all(each._file.closed for each in kept)
    assert set(folder.iterdir()) == before


def test_a_folder_that_is_gone(acting, monkeypatch):
    tube, rig = acting
    module = addon("features.bake.task")
    monkeypatch.setattr(module, "frame_folder", lambda: "/nowhere/at/all")
    refused("The temporary folder /nowhere/at/all cannot store the frames", tube, rig)


def test_command(sliding, tmp_path):
    source, target = save(tmp_path / "in.blend"), tmp_path / "out.blend"
    arguments = ("bake", source, "-o", target, "--poses", "scene", "--frames", FRAMES)
    assert run(*arguments, "--new-bones", 2, "--turn-off") == 0
    objects = opened(target)
    assert "Bake.002" in objects["Rig"].data.bones
    assert deform_names(objects["Rig"])[-1] == "Bake.002"


def test_frame_file(tmp_path):
    """Frames are read back unchanged, in any order, and do not stay in memory."""
    make = package("disk.frame_file").FrameFile
    frames, rng = make(str(tmp_path)), np.random.default_rng(1)
    given = rng.normal(size=(5, 7, 3)).astype(np.float32)
    for points in given:
        frames.append(points)
    for index in (4, 0, 2):
        np.testing.assert_array_equal(frames[index], given[index])
    np.testing.assert_array_equal(np.array(list(frames)), given)
    with pytest.raises(IndexError):
        frames[5]
    with pytest.raises(ValueError, match=r"shape \(6, 3\): must be \(7, 3\)"):
        frames.append(np.zeros((6, 3)))
    frames.close()
    large, points = make(str(tmp_path)), np.zeros((1000, 3))
    tracemalloc.start()
    for _ in range(200):
        large.append(points)
    grown = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(large) == 200 and grown < 200_000  # one frame has 12,000 bytes
    del large
    assert not list(tmp_path.iterdir())
