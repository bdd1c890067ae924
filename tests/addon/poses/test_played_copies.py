"""Actions are played on a copy of the rig, which moves as the rig would. Even rigs that could not
play the actions themselves therefore have poses."""

import itertools

import bpy
import numpy as np
import pytest
from deep import deep_snapshot, difference
from rigs import driven_rig, ik_rig, spline_rig
from scenes import addon, auto_weight, new_scene, select, tube_and_rig
from test_pose_sources import made
from test_poses import animate, bend_of, read
from test_rig_poses import sampled


def evaluated(rig, frames):
    """(frames, bones, 4, 4): the bones of the rig itself when it plays its action."""
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        found.append([np.array(bone.matrix) for bone in rig.pose.bones])
    return np.array(found)


def key_controls(rig, name):
    """An action that moves a control, which the rig plays."""
    animate(rig, "Moved", name, last=5, angle=0.8)
    bone = rig.pose.bones[name]
    for frame, where in ((1, (0, 0, 0)), (5, (0.3, 0.2, -0.4))):
        bone.location = where
        bone.keyframe_insert("location", frame=frame)


@pytest.mark.parametrize(
    ("make", "control"),
    [(ik_rig, "reach"), (driven_rig, "fore"), (spline_rig, "high")],
    ids=["ik", "driver", "spline"],
)
def test_a_copy_moves_as_the_rig(make, control):
    """Constraints, drivers and curves follow the copy rather than the rig."""
    rig = make()
    key_controls(rig, control)
    bpy.context.scene.frame_set(1)
    poses = read(rig, "ALL", 5)
    seen = evaluated(rig, range(1, 6))
    rest = np.array([np.array(bone.matrix_local) for bone in rig.data.bones])
    np.testing.assert_allclose(poses, (seen @ np.linalg.inv(rest))[..., :3, :], atol=2e-5)
    assert np.abs(poses[-1] - poses[0]).max() > 0.1, "it moves"
    assert len([ob for ob in bpy.data.objects if ob.type == "ARMATURE"]) == 1


def tweaked(rig):
    """A rig whose action is in a strip that is being edited."""
    data = rig.animation_data
    track = data.nla_tracks.new()
    track.strips.new("Strip", 1, data.action).select = True
    data.action = None
    data.nla_tracks.active = track
    data.use_tweak_mode = True
    assert data.use_tweak_mode


def test_actions_in_tweak_mode():
    _tube, rig = tube_and_rig()
    animate(rig, "Bend")
    expected = read(rig, "ALL", 5)
    tweaked(rig)
    before = deep_snapshot()
    np.testing.assert_allclose(read(rig, "ALL", 5), expected, atol=1e-6)
    assert difference(before, deep_snapshot()) == {}


def test_random_poses_of_a_rig_in_tweak_mode():
    """The copy for random poses must remove its action even though the rig is in tweak mode, which
    once failed."""
    rig = ik_rig()
    key_controls(rig, "reach")
    tweaked(rig)
    warnings = []
    poses, _skeleton = sampled(rig, warnings)
    assert len(poses) and not warnings
    assert rig.animation_data.use_tweak_mode


@pytest.mark.parametrize("override", [False, True], ids=["linked", "override"])
def test_actions_of_a_linked_rig(tmp_path, override):
    _tube, rig = tube_and_rig()
    made(rig, "Bend", "middle", {1: 0.0, 21: 1.0}).use_fake_user = True
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    new_scene()
    with bpy.data.libraries.load(path, link=True) as (_there, here):
        here.objects, here.actions = ["Rig"], ["Bend"]
    rig = here.objects[0]
    bpy.context.scene.collection.objects.link(rig)
    if override:
        rig = rig.override_create(remap_local_usages=True)
    bpy.context.view_layer.update()
    before = deep_snapshot()
    np.testing.assert_allclose(np.abs(bend_of(read(rig, "ALL", 3)))[[0, 2]], [0, 1], atol=1e-5)
    counts = (".users", ".is_library_indirect")  # Blender's own, of linked data that was copied
    changes = difference(before, deep_snapshot())
    assert not [path for path in changes if not path.endswith(counts)]


def test_a_press_in_tweak_mode():
    """A complete press with a rig in tweak mode."""
    tube, rig = tube_and_rig()
    animate(rig, "Bend")
    tweaked(rig)
    select(tube, rig)
    assert auto_weight(animation="ALL", animation_frames=5, pose_count=10) == {"FINISHED"}


def test_objects_that_hang_on_each_other(monkeypatch):
    """Each object is visited once: there are 4,096 paths between twelve layers of two Empties."""
    rig = ik_rig()
    layers = [[bpy.data.objects.new("Empty", None) for _ in range(2)] for _ in range(12)]
    for above, below in itertools.pairwise(layers):
        for ob, target in itertools.product(above, below):
            ob.constraints.new("COPY_LOCATION").target = target
    layers[-1][0].parent = rig
    free = bpy.data.objects.new("Free", None)
    for ob in (*layers[0], free):
        rig.pose.bones["fore"].constraints.new("COPY_LOCATION").target = ob
    copies, looked = addon("blender.poses.copied_rig"), []
    whole = copies.object_targets
    monkeypatch.setattr(copies, "object_targets", lambda ob: looked.append(ob) or whole(ob))
    hanging = copies._hanging(rig)
    assert len(looked) == len(set(looked)) == 25
    assert set(hanging) == {ob for layer in layers for ob in layer} - {layers[-1][1]}
