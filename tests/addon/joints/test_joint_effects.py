"""Joints move to positions at which meshes deform better. The tests check which data follows and
which stays."""

import json

import bpy
import numpy as np
import pytest
from joint_scenes import (
    OFF,
    TRUE,
    bent_tube,
    chain,
    connect,
    off_axis,
    optimize,
    place,
    same_bones,
    skeleton_of,
    task_of,
    told,
    twin_rig,
    z_turned,
)
from scenes import (
    add_armature,
    add_cube,
    add_mesh,
    add_tube,
    addon,
    assert_good,
    auto_weight,
    bind,
    choose_bones,
    entries,
    keyed,
    package,
    select,
    snapshot,
    tube_arrays,
)


def test_joints_come_nearer_and_weights_follow():
    tube, rig = bent_tube()
    auto_weight(tube, rig)
    error = addon("blender.read.deformation_errors").object_strain
    bent = (error(tube, bpy.context.view_layer, False) ** 2).mean()
    vertices = [tuple(v.co) for v in tube.data.vertices]
    was = {name: off_axis(rig, name) for name in OFF}
    before = skeleton_of(rig)
    poses = package("model.options").Options().pose_count  # strain is reported for these
    assert optimize(tube, rig, pose_count=poses) == {"FINISHED"}
    for name in OFF:
        assert off_axis(rig, name) < 0.3 * was[name], name
    assert_good(tube, rig)
    straight = (error(tube, bpy.context.view_layer, False) ** 2).mean()
    assert straight < 0.98 * bent
    assert [tuple(v.co) for v in tube.data.vertices] == vertices, "at rest nothing moves"
    for parent, child in (("lower", "middle"), ("middle", "upper")):
        assert rig.data.bones[child].use_connect
        assert tuple(place(rig, parent, "tail")) == tuple(place(rig, child))
    assert max(z_turned(rig, before).values()) < 15
    assert all(bone.length > 0.3 for bone in rig.data.bones)


@pytest.mark.parametrize("mode", ["OBJECT", "POSE"])
def test_everything_else_stays(mode):
    """Mode, selection, active objects, mirror option, hidden state."""
    tube, rig = bent_tube()
    other = add_armature("Other")
    rig.data.use_mirror_x = True
    rig.hide_set(mode == "OBJECT")
    select(tube, rig)
    rig.data.bones.active = rig.data.bones["upper"]
    if mode == "POSE":
        bpy.ops.object.mode_set(mode="POSE")
        choose_bones(rig, "middle")
    before = snapshot()
    if mode == "OBJECT":
        bpy.context.view_layer.objects.active = rig
    assert optimize() == {"FINISHED"}
    after = snapshot()
    del before["Tube"], after["Tube"]
    assert after == before
    assert rig.data.use_mirror_x and bpy.context.view_layer.objects.active == rig
    assert rig.data.bones.active == rig.data.bones["upper"]
    assert rig.hide_get() == (mode == "OBJECT") and other.mode == "OBJECT"
    if mode == "POSE":
        assert addon("blender.data.bones").selected_bones(rig) == ["middle"]


def test_weights_can_stay():
    tube, rig = bent_tube()
    auto_weight(tube, rig)
    before, was = entries(tube), off_axis(rig, "middle")
    assert optimize(tube, rig, optimize_weights=False) == {"FINISHED"}
    assert entries(tube) == before
    assert off_axis(rig, "middle") != was


def test_preserve_volume():
    """The weights are optimized for the modifier's method, and the report says so."""
    tube, rig = bent_tube()
    tube.modifiers[0].use_deform_preserve_volume = True
    report, _warnings = told(tube, rig)
    assert report["moved_bones"] and report["weights"]["deformers"]
    assert_good(tube, rig)


def cross():
    """A trunk with two arms, each a tube, with side names."""
    up = tube_arrays(length=2.0, rings=21, sides=12)
    vertices, faces = [up[0]], list(up[1])
    for sign in (1, -1):
        arm, arm_faces = tube_arrays(length=2.0, rings=21, sides=12, radius=0.2)
        first = sum(len(part) for part in vertices)
        placed = np.column_stack([sign * (arm[:, 2] + 0.2), arm[:, 1], sign * 0 + arm[:, 0] + 1.5])
        vertices.append(placed)
        order = (0, 1, 2, 3) if sign > 0 else (3, 2, 1, 0)
        for face in arm_faces:
            corners = [face[k] for k in order if k < len(face)]
            faces.append(tuple(int(first + v) for v in corners))
    body = add_mesh("Body", np.concatenate(vertices), faces)
    bones = [("spine", (0, 0, 0), (0, 0, 1.5), None), ("chest", (0, 0, 1.5), (0, 0, 1.95), "spine")]
    for side, sign in (("L", 1), ("R", -1)):
        bones += [
            (f"arm.{side}", (sign * 0.3, 0, 1.5), (sign * 1.15, 0.08, 1.56), "chest"),
            (f"hand.{side}", (sign * 1.15, 0.08, 1.56), (sign * 2.1, 0, 1.5), f"arm.{side}"),
        ]
    rig = add_armature(bones=bones)
    connect(rig, "hand.L", "hand.R")
    bind(body, rig)
    return body, rig


def test_symmetric_stays_symmetric():
    body, rig = cross()
    before = skeleton_of(rig)
    assert optimize(body, rig) == {"FINISHED"}
    moved = 0
    for name in ("arm", "hand"):
        for end in ("head", "tail"):
            left, right = place(rig, f"{name}.L", end), place(rig, f"{name}.R", end)
            np.testing.assert_allclose(left * [-1, 1, 1], right, atol=1e-6)
            moved += np.linalg.norm(left - np.array(before[2][2 + (end == "tail")])) > 0.01
        axes = [np.array(rig.data.bones[f"{name}.{side}"].matrix_local)[:3, 2] for side in "LR"]
        np.testing.assert_allclose(axes[0] * [-1, 1, 1], axes[1], atol=1e-4)
    assert moved
    np.testing.assert_allclose(place(rig, "chest")[0], 0, atol=1e-7)
    assert abs(place(rig, "hand.L")[1]) < 0.04, "toward the axis of the arm"


def test_control_bones_follow():
    tube, rig = twin_rig()
    before = skeleton_of(rig)
    target = place(rig, "target", "tail") - place(rig, "target")
    child = place(rig, "child", "tail") - place(rig, "child")
    optimize(tube, rig)
    for end, twin in (("head", ("middle", "head")), ("tail", ("upper", "head"))):
        np.testing.assert_allclose(place(rig, "ORG-middle", end), place(rig, *twin), atol=1e-6)
    np.testing.assert_allclose(place(rig, "target"), place(rig, "upper"), atol=1e-6)
    np.testing.assert_allclose(
        place(rig, "target", "tail") - place(rig, "target"), target, atol=1e-6
    )
    assert rig.data.bones["short"].length > 0.01, "not collapsed"
    assert rig.data.bones["child"].use_connect
    assert tuple(place(rig, "child")) == tuple(place(rig, "target", "tail"))
    np.testing.assert_allclose(place(rig, "child", "tail") - place(rig, "child"), child, atol=1e-6)
    same_bones(rig, before, ["pole"])
    turned = z_turned(rig, before)
    assert turned["target"] < 0.3 and turned["child"] < 0.3


def test_whole_is_scaled_and_turned():
    """Joints move in armature space, for all transforms of the objects."""
    from mathutils import Matrix

    tube, rig = bent_tube()
    rig.matrix_world = (
        Matrix.Translation((3, -1, 2)) @ Matrix.Rotation(0.7, 4, "X") @ (Matrix.Scale(0.01, 4))
    )
    was = off_axis(rig, "middle")
    optimize(tube, rig)
    assert off_axis(rig, "middle") < 0.5 * was


def test_failure_puts_all_back(monkeypatch):
    """A failure while bones or weights are written restores everything."""
    tube, rig = bent_tube()
    auto_weight(tube, rig)
    before, bones = snapshot(), skeleton_of(rig)
    for name in ("features.joints.task", "features.joints.write"):
        task = task_of(tube, rig)
        task.solve()
        if name == "features.joints.task":
            monkeypatch.setattr(addon(name), "make_report", lambda *_rest: 1 / 0)
        else:
            monkeypatch.setattr(addon(name), "Vector", lambda *_rest: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            task.apply()
        monkeypatch.undo()
        same_bones(rig, bones, list(TRUE))
    assert snapshot() == before


def test_new_mesh_is_bound():
    rig = add_armature(bones=chain({**TRUE, **OFF}))
    tube = add_tube(rings=31, sides=12)
    optimize(tube, rig)
    assert tube.parent == rig and tube.modifiers[0].object == rig
    assert_good(tube, rig)


def test_animation_is_respected():
    """Frames of an action are used as poses. The action itself does not change."""
    tube, rig = bent_tube()
    keyed(rig, "upper", {1: 0.0, 20: 1.2})
    report, warnings = told(tube, rig, animation="ACTIVE", animation_frames=10)
    assert report["poses"] == 50
    assert any("rotates bones whose joints" in line for line in warnings)
    assert off_axis(rig, "middle") < 0.06


def test_weights_go_on_from_those_of_the_joints():
    """Even on parts far from the optimum of the first weights, the result is never worse than an
    intermediate one."""
    _tube, rig = bent_tube()
    for z in (0.5, 1.4, 2.6):
        cube = add_cube(f"Cube{z}", (0.45, 0, z), 0.2)
        bind(cube, rig)
    meshes = [ob for ob in bpy.data.objects if ob.type == "MESH"]
    task = task_of(*meshes, rig)
    task.solve()
    assert task.solution.report["energy_after"] <= task.run.frame.energies[-1] * 1.02


def test_command(tmp_path):
    _tube, rig = bent_tube()
    source, target, page = (str(tmp_path / n) for n in ("in.blend", "out.blend", "report.json"))
    bpy.ops.wm.save_as_mainfile(filepath=source)
    was = off_axis(rig, "middle")
    arguments = ["joints", source, "-o", target, "--json", page, "--anchor", "0"]
    assert addon("cli").run(arguments) == 0
    bpy.ops.wm.open_mainfile(filepath=target)
    rig = bpy.data.objects["Rig"]
    assert off_axis(rig, "middle") < 0.5 * was
    assert_good(bpy.data.objects["Tube"], rig)
    with open(page) as file:
        (armature,) = json.load(file)["files"][0]["armatures"]
    assert armature["energy_after"] < armature["energy_before"]
    assert armature["weights"]["objects"][0]["name"] == "Tube"
    assert 0 < armature["mean_move"] <= armature["largest_move"] < 0.2
