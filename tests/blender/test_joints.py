"""Joints: moved to where meshes deform better, what goes with them, what is left alone, and what is
refused or told."""

import json
import math

import bpy
import numpy as np
import pytest
from scenes import (
    add_armature,
    add_cube,
    add_mesh,
    add_object,
    add_tube,
    addon,
    assert_good,
    auto_weight,
    bind,
    entries,
    select,
    snapshot,
    tube_arrays,
    weights,
)

TRUE = {"lower": (0, 0, 0.05), "middle": (0, 0, 1.0), "upper": (0, 0, 2.0)}
OFF = {"middle": (0.09, 0.03, 1.0), "upper": (-0.05, 0.07, 2.0)}


def chain(heads, end=(0, 0, 2.95)):
    """Connected bones up the tube."""
    names = list(heads)
    tails = [heads[name] for name in names[1:]] + [end]
    parents = [None, *names[:-1]]
    return list(zip(names, heads.values(), tails, parents, strict=True))


def connect(rig, *names):
    select(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    for name in names:
        rig.data.edit_bones[name].use_connect = True
    bpy.ops.object.mode_set(mode="OBJECT")


def bent_tube(off=OFF, more=(), **shape):
    """A tube with a rig whose joints are off its axis."""
    rig = add_armature(bones=[*chain({**TRUE, **off}), *more])
    connect(rig, "middle", "upper")
    tube = add_tube(rings=31, sides=12, **shape)
    bind(tube, rig)
    return tube, rig


def optimize(*objects, **options):
    if objects:
        select(*objects)
    return bpy.ops.object.araplbs_optimize_joints(
        "EXEC_DEFAULT", **{"anchor": 0.0, "pose_count": 40, **options}
    )


def refused(*objects, **options):
    """The reason, with nothing changed."""
    select(*objects)
    rigs = [ob for ob in bpy.data.objects if ob.type == "ARMATURE"]
    before, bones = snapshot(), skeleton_of(*rigs)
    with pytest.raises(RuntimeError) as error:
        optimize(**options)
    assert snapshot() == before and skeleton_of(*rigs) == bones
    return str(error.value)


def task_of(*objects, **options):
    """A JointTask, read."""
    select(*objects)
    task = addon("tasks.joints").JointTask(
        addon("core.joints").JointOptions(**{"anchor": 0.0, "pose_count": 40, **options})
    )
    task.read(addon("blender.targets").find_targets(bpy.context), bpy.context.view_layer)
    return task


def told(*objects, **options):
    """(the report, the warnings) of a task that is done."""
    task = task_of(*objects, **options)
    task.solve()
    return task.apply(), task.warnings


def skeleton_of(*rigs):
    """Every bit of the rest places."""
    return [
        (
            *(bone.name, bone.use_connect, tuple(bone.head_local), tuple(bone.tail_local)),
            *map(tuple, bone.matrix_local),
        )
        for rig in rigs
        for bone in rig.data.bones
    ]


def place(rig, name, end="head"):
    return np.array(getattr(rig.data.bones[name], f"{end}_local"))


def off_axis(rig, name):
    return float(np.linalg.norm(place(rig, name)[:2]))


def same_bones(rig, before, names):
    """Blender makes bones anew when it leaves Edit mode: all but the last bits."""
    now = {row[0]: row for row in skeleton_of(rig)}
    for row in before:
        if row[0] in names:
            for one, other in zip(row[2:], now[row[0]][2:], strict=True):
                np.testing.assert_allclose(other, one, atol=1e-5)


def z_turned(rig, before):
    """Degrees by which the Z axis of each bone has turned."""
    z = {row[0]: np.array(row[4:7])[:3, 2] for row in before}
    return {
        bone.name: math.degrees(
            math.acos(np.clip(np.dot(z[bone.name], np.array(bone.matrix_local)[:3, 2]), -1, 1))
        )
        for bone in rig.data.bones
    }


def test_joints_come_nearer_and_weights_follow():
    tube, rig = bent_tube()
    auto_weight(tube, rig)
    error = addon("blender.deformation_errors").object_strain
    bent = (error(tube, bpy.context.view_layer, False) ** 2).mean()
    vertices = [tuple(v.co) for v in tube.data.vertices]
    was = {name: off_axis(rig, name) for name in OFF}
    before = skeleton_of(rig)
    poses = addon("core.options").Options().pose_count  # those that strain is told of
    assert optimize(tube, rig, pose_count=poses) == {"FINISHED"}
    for name in OFF:
        assert off_axis(rig, name) < 0.2 * was[name], name
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
        bpy.ops.pose.select_all(action="DESELECT")
        bone_flags(rig)["middle"].select = True
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
        assert [n for n, flags in bone_flags(rig).items() if flags.select] == ["middle"]


def bone_flags(rig):
    """What has the selection of each bone: since 5.0 the pose."""
    of_pose = "select" in bpy.types.PoseBone.bl_rna.properties
    return dict((rig.pose if of_pose else rig.data).bones.items())


def test_weights_can_stay():
    tube, rig = bent_tube()
    auto_weight(tube, rig)
    before, was = entries(tube), off_axis(rig, "middle")
    assert optimize(tube, rig, optimize_weights=False) == {"FINISHED"}
    assert entries(tube) == before
    assert off_axis(rig, "middle") != was


def test_weights_that_cannot_stay():
    tube, rig = bent_tube()
    assert "no weights yet" in refused(tube, rig, optimize_weights=False)


def test_volume_is_refused():
    assert "Surface Only" in refused(*bent_tube(), volume="INSIDE")


def test_preserve_volume():
    """The weights are for what the modifier does, and the report tells."""
    tube, rig = bent_tube()
    tube.modifiers[0].use_deform_preserve_volume = True
    report, _warnings = told(tube, rig)
    assert report["moved_bones"] and report["weights"]["deformers"]
    assert_good(tube, rig)


def test_locked_groups_are_kept():
    tube, rig = bent_tube()
    auto_weight(tube, rig)
    tube.vertex_groups["upper"].lock_weight = True
    before = weights(tube, ["upper"])
    optimize(tube, rig)
    np.testing.assert_array_equal(weights(tube, ["upper"]), before)


def test_pins_are_kept():
    """Weights that are pinned elsewhere than where they would be."""
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
    locks, factors = addon("blender.joint_settings").read_joint_settings(rig, list(TRUE))
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


def cross():
    """A trunk with two arms, each a tube; names with sides."""
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


def twin_rig():
    """Control bones beside the deforming ones: a copy of a bone, an IK target with a tail of its
    own, a bone that is connected to that, and one that is somewhere else."""
    heads = {**TRUE, **OFF}
    more = [
        ("ORG-middle", heads["middle"], heads["upper"], None),
        ("target", heads["upper"], (0, -0.7, 2.1), None),
        ("child", (0, -0.7, 2.1), (0, -0.9, 2.3), "target"),
        ("pole", (0, -2, 1), (0, -2.4, 1), None),
        ("short", (0.07, 0.0235, 1), heads["middle"], None),
    ]
    tube, rig = bent_tube(more=more)
    for name, *_rest in more:
        rig.data.bones[name].use_deform = False
    connect(rig, "child")
    return tube, rig


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


def test_lock_of_a_control_bone():
    tube, rig = twin_rig()
    rig.data.bones["target"].araplbs_joint.lock_head = True
    before = place(rig, "upper")
    optimize(tube, rig)
    np.testing.assert_allclose(place(rig, "upper"), before, atol=1e-6)


def test_whole_is_scaled_and_turned():
    """In the space of the armature, whatever the objects' transforms are."""
    from mathutils import Matrix

    tube, rig = bent_tube()
    rig.matrix_world = (
        Matrix.Translation((3, -1, 2)) @ Matrix.Rotation(0.7, 4, "X") @ (Matrix.Scale(0.01, 4))
    )
    was = off_axis(rig, "middle")
    optimize(tube, rig)
    assert off_axis(rig, "middle") < 0.5 * was


def test_undo_brings_back_every_bit():
    tube, rig = bent_tube()
    auto_weight(tube, rig)
    bpy.ops.ed.undo_push(message="before")
    before, bones = snapshot(), skeleton_of(rig)
    optimize(tube, rig)
    bpy.ops.ed.undo_push(message="after")
    assert snapshot() != before
    bpy.ops.ed.undo()
    assert snapshot() == before
    assert skeleton_of(bpy.data.objects["Rig"]) == bones


def test_failure_puts_all_back(monkeypatch):
    """In the middle of the bones, and in the middle of the weights."""
    tube, rig = bent_tube()
    auto_weight(tube, rig)
    before, bones = snapshot(), skeleton_of(rig)
    for name in ("blender.live_weights", "blender.write_joints"):
        task = task_of(tube, rig)
        task.solve()
        if name == "blender.live_weights":
            monkeypatch.setattr(addon(name).LiveWeights, "_note", lambda *_rest: 1 / 0)
        else:
            monkeypatch.setattr(addon(name), "Vector", lambda *_rest: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            task.apply()
        monkeypatch.undo()
        same_bones(rig, bones, list(TRUE))
    assert snapshot() == before


def test_session_shows_frames_and_writes_once():
    from test_session import finish, tick_until

    tube, rig = bent_tube()
    select(tube, rig)
    before, bones = snapshot(), skeleton_of(rig)
    session = start_session()
    frames = set()
    tick_until(session, lambda: frames.add(session.frame) or session.settled)
    assert snapshot() == before and skeleton_of(rig) == bones, "nothing is written meanwhile"
    assert len(frames - {None}) >= 2
    energies = session.frame.energies
    assert energies[-1] < energies[0]
    expected = session.frame.skeleton
    session.keep()
    finish(session)
    assert not session.message and session.report["moved_bones"]
    np.testing.assert_allclose(place(rig, "upper"), expected.heads[2], atol=1e-6)
    assert_good(tube, rig)


def start_session(**options):
    return addon("live.joints").JointSession(
        addon("operators.joints").find_joint_targets(bpy.context),
        addon("core.joints").JointOptions(**{"anchor": 0.0, **options}),
        bpy.context.view_layer,
    )


@pytest.mark.parametrize("when", ["reading", "running", "keeping", "at once"])
def test_cancel_changes_nothing(when):
    from test_session import finish, tick_until

    tube, rig = bent_tube()
    select(tube, rig)
    before, bones = snapshot(), skeleton_of(rig)
    session = start_session()
    if when != "reading":
        tick_until(session, lambda: session.frame)
    if when == "keeping":
        session.keep()
    if when == "at once":
        session.restore_now()
    else:
        session.restore()
        finish(session)
    assert session.restored and session.report is None and session.message is None
    assert snapshot() == before and skeleton_of(rig) == bones
    assert addon("live.session").current_session() is None


def test_one_session_at_a_time():
    tube, rig = bent_tube()
    select(tube, rig)
    session = start_session()
    assert not bpy.ops.object.araplbs_optimize_joints.poll()
    assert not bpy.ops.object.araplbs_auto_weight.poll()
    assert not bpy.ops.object.araplbs_refine_weights.poll()
    session.restore_now()
    assert bpy.ops.object.araplbs_optimize_joints.poll()


def test_edited_meanwhile():
    from test_session import finish, tick_until

    tube, rig = bent_tube()
    select(tube, rig)
    session = start_session()
    tick_until(session, lambda: session.settled)
    select(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones["upper"].head = (0.3, 0, 2)
    bpy.ops.object.mode_set(mode="OBJECT")
    before, bones = snapshot(), skeleton_of(rig)
    session.keep()
    finish(session)
    assert "edited meanwhile" in session.message and session.report is None
    assert snapshot() == before and skeleton_of(rig) == bones


def test_refusals():
    tube, rig = bent_tube()
    other = add_object("Twin", rig.data)
    stranger = add_tube("Stranger")
    bind(stranger, other)
    assert "Twin" in refused_poll(tube, rig) and "Stranger" in refused_poll(tube, rig)
    stranger.modifiers.clear()
    stranger.parent = None
    _report, warnings = told(tube, rig)
    assert any("Twin" in line for line in warnings)
    select(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    assert not bpy.ops.object.araplbs_optimize_joints.poll()
    bpy.ops.object.mode_set(mode="OBJECT")
    select(tube)
    tube.modifiers.clear()
    tube.parent = None
    assert "armature" in refused_poll(tube)


def refused_poll(*objects):
    select(*objects)
    with pytest.raises(addon("core.refusal").Refused) as reason:
        addon("operators.joints").find_joint_targets(bpy.context)
    assert not bpy.ops.object.araplbs_optimize_joints.poll()
    return str(reason.value)


def test_linked_armature(tmp_path):
    tube, rig = bent_tube()
    path = str(tmp_path / "rig.blend")
    bpy.data.libraries.write(path, {rig})
    bpy.data.objects.remove(rig)
    with bpy.data.libraries.load(path, link=True) as (_there, here):
        here.objects = ["Rig"]
    rig = bpy.data.objects["Rig"]
    bpy.context.scene.collection.objects.link(rig)
    assert "linked from another file" in refused_poll(tube, rig)
    override = rig.override_create(remap_local_usages=True)
    if override.data.library is None:
        assert "override" in refused_poll(tube, override)


def test_hidden_armature():
    """Where Blender does not let it be edited otherwise."""
    tube, rig = bent_tube()
    rig.hide_viewport = True
    select(tube, active=tube)
    assert bpy.ops.object.araplbs_optimize_joints(anchor=0.0, pose_count=20) == {"FINISHED"}
    assert rig.hide_viewport and off_axis(rig, "middle") < 0.05
    collection = bpy.data.collections.new("Away")
    bpy.context.scene.collection.children.link(collection)
    collection.objects.link(rig)
    bpy.context.scene.collection.objects.unlink(rig)
    bpy.context.view_layer.layer_collection.children["Away"].exclude = True
    before, bones = entries(tube), skeleton_of(rig)
    with pytest.raises(RuntimeError, match="view layer"):
        bpy.ops.object.araplbs_optimize_joints(anchor=0.0, pose_count=20)
    assert entries(tube) == before and skeleton_of(rig) == bones


def test_warnings_name_what_changes():
    tube, rig = twin_rig()
    pose = rig.pose.bones
    stretch = pose["ORG-middle"].constraints.new("STRETCH_TO")
    stretch.target, stretch.subtarget = rig, "target"
    ik = pose["upper"].constraints.new("IK")
    ik.target, ik.subtarget, ik.chain_count = rig, "pole", 2
    child_of = pose["pole"].constraints.new("CHILD_OF")
    child_of.target, child_of.subtarget = rig, "middle"
    pose["middle"].location = (0.2, 0, 0)
    pose["middle"].keyframe_insert("location", frame=1)
    pose["middle"].location = (0, 0, 0)
    hat = add_object("Hat", None)
    hat.parent, hat.parent_type, hat.parent_bone = rig, "BONE", "upper"
    follower = add_object("Follower", None)
    copy = follower.constraints.new("COPY_LOCATION")
    copy.target, copy.subtarget = rig, "upper"
    pose["upper"].custom_shape = add_object("Shape", None)
    pose["upper"].rotation_mode = "XYZ"
    pose["upper"].rotation_euler.x = 0.5
    driver = tube.driver_add("location", 0).driver
    variable = driver.variables.new()
    variable.type = "TRANSFORMS"
    variable.targets[0].id, variable.targets[0].bone_target = rig, "middle"
    add_tube("Skirt").modifiers.new("Armature", "ARMATURE").object = rig
    tube.animation_data.drivers[0].mute = True
    action = rig.animation_data.action
    pose["middle"].location = (0, 0, 0)
    report, warnings = told(tube, rig)
    assert {"middle", "upper"} <= set(report["moved_bones"])
    for words in (
        ("Stretch To", "ORG-middle"),
        ("IK chain", "upper"),
        ("Child Of", "pole"),
        ("location keys", action.name),
        ("child of a moved bone", "Hat"),
        ("by constraints", "Follower"),
        ("custom shape", "upper"),
        ("posed", "upper"),
        ("driver", "Tube"),
        ("keeps its weights", "Skirt"),
    ):
        lines = [line for line in warnings if all(word in line for word in words)]
        assert len(lines) == 1, (words, warnings)


def test_no_warnings_for_a_plain_rig():
    tube, rig = bent_tube()
    assert told(tube, rig)[1] == []


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


def test_new_mesh_is_bound():
    rig = add_armature(bones=chain({**TRUE, **OFF}))
    tube = add_tube(rings=31, sides=12)
    optimize(tube, rig)
    assert tube.parent == rig and tube.modifiers[0].object == rig
    assert_good(tube, rig)


def test_animation_is_respected():
    """Frames of an action as poses; the action itself is not touched."""
    tube, rig = bent_tube()
    bone = rig.pose.bones["upper"]
    bone.rotation_mode = "XYZ"
    for frame, angle in ((1, 0.0), (20, 1.2)):
        bone.rotation_euler.x = angle
        bone.keyframe_insert("rotation_euler", frame=frame)
    report, warnings = told(tube, rig, animation="ACTIVE", animation_frames=10)
    assert report["poses"] == 50
    assert any("turns moved bones" in line for line in warnings)
    assert off_axis(rig, "middle") < 0.06


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


def test_weights_go_on_from_those_of_the_joints():
    """Also on parts that are far from the first weights' optimum: never worse than on the way."""
    _tube, rig = bent_tube()
    for z in (0.5, 1.4, 2.6):
        cube = add_cube(f"Cube{z}", (0.45, 0, z), 0.2)
        bind(cube, rig)
    meshes = [ob for ob in bpy.data.objects if ob.type == "MESH"]
    task = task_of(*meshes, rig)
    task.solve()
    assert task.solution.report["energy_after"] <= task.run.frame.energies[-1] * 1.02
