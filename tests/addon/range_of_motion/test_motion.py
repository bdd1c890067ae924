"""Range of Motion: its poses and markers, its use of the rig, refusals, and the command line."""

import bpy
import numpy as np
import pytest
from command import opened, run, save
from mathutils import Matrix, Vector
from rigs import driven_rig
from scenes import add_armature, addon, package, select


def make(armature, **options):
    select(armature)
    return bpy.ops.object.araplbs_range_of_motion("EXEC_DEFAULT", **options)


def biped_bones(arms=0.55):
    """Along Z, facing -Y, with arms to the sides."""
    bones = [
        ("root", (0, 0, 0), (0, 0.3, 0), None),
        ("hips", (0, 0, 1.0), (0, 0, 1.15), "root"),
        ("spine", (0, 0, 1.15), (0, 0, 1.5), "hips"),
        ("head", (0, 0, 1.5), (0, 0, 1.75), "spine"),
    ]
    for side, x in (("L", 1), ("R", -1)):
        bones += [
            (f"thigh.{side}", (0.1 * x, 0, 1.0), (0.1 * x, -0.02, 0.52), "hips"),
            (f"shin.{side}", (0.1 * x, -0.02, 0.52), (0.1 * x, 0, 0.08), f"thigh.{side}"),
            (f"foot.{side}", (0.1 * x, 0, 0.08), (0.1 * x, -0.18, 0), f"shin.{side}"),
            (f"arm.{side}", (0.18 * x, 0, 1.42), ((0.18 + arms / 2) * x, 0.01, 1.42), "spine"),
            (
                f"forearm.{side}",
                ((0.18 + arms / 2) * x, 0.01, 1.42),
                ((0.18 + arms) * x, 0, 1.42),
                f"arm.{side}",
            ),
        ]
    return bones


def markers(armature):
    return {m.name: m.frame for m in armature.animation_data.action.pose_markers}


def posed(armature, frame):
    """{bone: (4, 4) from rest in armature space}."""
    bpy.context.scene.frame_set(frame)
    ob = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return {p.name: np.array(p.matrix @ p.bone.matrix_local.inverted()) for p in ob.pose.bones}


def turned(armature, frame):
    """Names of bones that rotate relative to their parents."""
    bpy.context.scene.frame_set(frame)
    ob = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    found = set()
    for p in ob.pose.bones:
        rest, now = p.bone.matrix_local, p.matrix
        if p.parent:
            rest = p.bone.parent.matrix_local.inverted() @ rest
            now = p.parent.matrix.inverted() @ now
        if np.abs(np.array(rest) - np.array(now)).max() > 1e-4:
            found.add(p.name)
    return found


def test_every_joint_alone_to_its_limits():
    rig = add_armature(bones=biped_bones())
    shin = rig.pose.bones["shin.L"]
    shin.use_ik_limit_x = True
    shin.ik_min_x, shin.ik_max_x = 0.0, 1.5
    shin.lock_rotation[1] = shin.lock_rotation[2] = True
    assert make(rig, combinations=0, acts=False, swing=0.8, twist=0.3, limb_twist=0.6) == {
        "FINISHED"
    }
    at = markers(rig)
    for name, bone in (
        ("arm.R X +46", "arm.R"),
        ("arm.R Y -34", "arm.R"),
        ("head Y -17", "head"),
        ("head Z -46", "head"),
    ):
        assert turned(rig, at[name]) == {bone}
    assert [name for name in at if name.startswith("shin.L")] == ["shin.L X +86"]
    own = rig.pose.bones["shin.L"]
    bpy.context.scene.frame_set(at["shin.L X +86"])
    angle = own.matrix_basis.to_euler().x
    assert abs(angle - 1.5) < 1e-4
    assert turned(rig, at["Rest"]) == set()
    assert turned(rig, max(at.values()) + 10) == set()
    moves = {name.rsplit(" ", 2)[0] for name in at} - {"Rest"}
    assert moves == {bone.name for bone in rig.data.bones}


def test_combinations_are_those_that_check_weights_looks_at():
    rig = add_armature(bones=biped_bones())
    make(rig, acts=False, combinations=12, seed=3)
    skeleton = addon("blender.read.read_armature").read_armature(rig, True)
    checking = addon("features.check.task").CheckTask(package("model.options").Options(seed=3))
    symmetry = package("skeleton.symmetry").symmetry_plane(skeleton)
    poses, _bends = package("skeleton.poses").sample(skeleton, checking.options, symmetry)
    at = markers(rig)
    assert len(poses) == 12
    for k, pose in enumerate(poses):
        found = posed(rig, at[f"Combination {k + 1}"])
        for b, name in enumerate(skeleton.names):
            assert np.abs(found[name][:3] - pose[b]).max() < 1e-4, name


def test_combinations_are_those_that_compare_methods_judges_in():
    rig = add_armature(bones=biped_bones())
    judge = package("features.compare.judge")
    options = package("features.compare.options").CompareOptions()
    assert (options.judged_poses, judge.JUDGE_SEED) == (24, 20180101), "as the manual says"
    make(rig, acts=False, combinations=24, seed=20180101, symmetric=False)
    skeleton = addon("blender.read.read_armature").read_armature(rig, True)
    at = markers(rig)
    for k, pose in enumerate(judge.judged_poses(skeleton, options).transforms):
        found = posed(rig, at[f"Combination {k + 1}"])
        for b, name in enumerate(skeleton.names):
            assert np.abs(found[name][:3] - pose[b]).max() < 1e-4, name


@pytest.mark.parametrize("up", ["Z", "Y"])
def test_a_biped_walks_and_reaches(up):
    turn = Matrix.Rotation(np.pi / 2, 4, "X") if up == "Y" else Matrix()
    back = turn.inverted()
    bones = [
        (name, back @ Vector(head), back @ Vector(tail), parent)
        for name, head, tail, parent in biped_bones()
    ]
    rig = add_armature(bones=bones, matrix=turn)
    make(rig, combinations=0)
    at = markers(rig)

    def place(bone, name):
        bpy.context.scene.frame_set(at[name])
        return np.array(rig.matrix_world @ rig.pose.bones[bone].tail)

    ahead, behind = place("shin.L", "Walk contact L"), place("shin.R", "Walk contact L")
    assert ahead[1] < -0.15 < 0.15 < behind[1]
    other = place("shin.L", "Walk contact R")
    assert other[1] > 0.15
    lifted = [place("shin.L", f"Walk {step} R")[2] for step in ("down", "passing", "up")]
    assert max(lifted) > 0.2
    assert place("forearm.L", "Reach up")[2] > 1.85
    assert place("forearm.L", "Reach forward")[1] < -0.4
    assert place("forearm.R", "Reach side")[0] < -0.6
    assert place("forearm.R", "Reach across")[0] > 0
    assert place("shin.R", "Step up R")[2] > 0.3


def fk_rig():
    """Deform bones that copy controls, and an arm that follows the hand by IK."""
    bones = biped_bones()
    bones += [
        (f"c_{name}", head, tail, parent and f"c_{parent}") for name, head, tail, parent in bones
    ]
    bones += [
        (f"ik_{side}", (0.73 * x, 0, 1.42), (0.83 * x, 0, 1.42), "c_root")
        for side, x in (("L", 1), ("R", -1))
    ]
    rig = add_armature(bones=bones)
    for bone in rig.data.bones:
        bone.use_deform = not bone.name.startswith(("c_", "ik_"))
        if bone.use_deform:
            copy = rig.pose.bones[bone.name].constraints.new("COPY_TRANSFORMS")
            copy.target, copy.subtarget = rig, f"c_{bone.name}"
            bone.hide_select = True
    for side in "LR":
        ik = rig.pose.bones[f"c_forearm.{side}"].constraints.new("IK")
        ik.target, ik.subtarget, ik.chain_count = rig, f"ik_{side}", 2
    return rig


def test_through_a_rig_controls_have_the_keys():
    rig = fk_rig()
    assert make(rig, combinations=2) == {"FINISHED"}
    bag = addon("blender.poses.pose_sources").action_curves(rig.animation_data.action)
    keyed = {curve.data_path.split('"')[1] for _slot, curve in bag}
    assert all(name.startswith(("c_", "ik_")) for name in keyed), keyed
    at = markers(rig)
    name = next(name for name in at if name.startswith("c_head X"))
    assert turned(rig, at[name]) >= {"c_head"}
    now = posed(rig, at[name])
    assert np.allclose(now["head"], now["c_head"], atol=1e-4)
    assert np.abs(now["head"][:3, :3] - np.eye(3)).max() > 0.3
    bpy.context.scene.frame_set(at["Reach up"])
    assert rig.pose.bones["forearm.L"].tail.z > 1.8
    bpy.context.scene.frame_set(at["Walk contact L"])
    assert rig.pose.bones["shin.L"].tail.y < -0.15


def test_a_driver_that_does_not_run_is_named_and_the_rest_is_posed():
    rig = driven_rig("turn + nothing_of_this_name")
    assert make(rig, combinations=2) == {"FINISHED"}
    assert any(name.startswith("hand ") for name in markers(rig))
    steps = package("base.steps")
    options = package("features.range_of_motion").MotionOptions(combinations=2)
    task = addon("features.range_of_motion.task").MotionTask(options, 1)
    targets = addon("blender.read.targets").Targets(rig, [])
    steps.finish(task.read_in_steps(targets, bpy.context.view_layer))
    task.solve()
    lines = task.apply()["warnings"]
    assert any("1 driver does not run" in line and "corrective" in line for line in lines), lines


def test_trials_in_one_pose_turn_no_joint_twice():
    """Combined trials find the same controls as separate ones."""
    rig = fk_rig()
    trials = package("skeleton.rig_reaches").trials_together
    motion, found, poses = addon("features.range_of_motion.rig"), [], []

    def alone(each, *more):
        poses.append(trials(each, *more))
        for pose in poses[-1]:
            joints = np.concatenate(list(pose.values()))
            assert len(set(joints.tolist())) == len(joints)
        return [{trial: joints} for pose in poses[-1] for trial, joints in pose.items()]

    for way in (alone, trials):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(motion, "trials_together", way)
            make(rig, combinations=0)
        found.append(markers(rig))
    assert found[0] == found[1]
    assert len(poses[0]) < sum(len(pose) for pose in poses[0])


def test_the_action_of_the_artist_stays_and_ours_is_made_anew():
    rig = add_armature()
    data = rig.animation_data_create()
    data.action = own = bpy.data.actions.new("Run")
    make(rig, combinations=0)
    first = data.action
    assert own.use_fake_user and first != own
    make(rig, combinations=2)
    assert {a.name for a in bpy.data.actions} == {"Run", data.action.name}
    assert bpy.context.scene.frame_end >= max(markers(rig).values())


def keys_of(action):
    curves = addon("blender.poses.pose_sources").action_curves(action)
    return {
        (curve.data_path, curve.array_index): [tuple(p.co) for p in curve.keyframe_points]
        for _slot, curve in curves
    }


def first_curve(action):
    return addon("blender.poses.pose_sources").action_curves(action)[0][1]


def edited_copy(action, _rig):
    copy = action.copy()
    first_curve(copy).keyframe_points.insert(500, 1.25)
    return copy


def renamed_copy(action, _rig):
    copy = action.copy()
    copy.name = "My walk"
    return copy


def copy_with_fake_user(action, _rig):
    copy = action.copy()
    copy.use_fake_user = True
    return copy


def copy_that_plays(action, rig):
    rig.animation_data.action = action.copy()
    return rig.animation_data.action


def edited(action, _rig):
    first_curve(action).keyframe_points[0].co.y += 0.5
    return action


def with_a_marker(action, _rig):
    action.pose_markers.new("Mine").frame = 3
    return action


def renamed(action, _rig):
    action.name = "My walk"
    return action


def asset(action, _rig):
    action.asset_mark()
    return action


def played_by_another(action, _rig):
    other = bpy.data.objects.new("Other", None)
    other.animation_data_create().action = action
    return action


@pytest.mark.parametrize(
    "work",
    [
        *(edited_copy, renamed_copy, copy_with_fake_user, copy_that_plays, edited, with_a_marker),
        *(renamed, asset, played_by_another),
    ],
)
def test_actions_that_somebody_has_worked_on_stay(work):
    rig = add_armature()
    make(rig, combinations=0)
    own = work(rig.animation_data.action, rig)
    name, keys = own.name, keys_of(own)
    for combinations in (1, 2):
        make(rig, combinations=combinations)
        assert own.name == name and keys_of(own) == keys
        assert rig.animation_data.action != own
    assert rig.animation_data.action.name.startswith("Rig Range of Motion")


def test_own_action_is_known_whatever_the_armatures_are_called():
    hero = add_armature()
    make(hero, combinations=0)
    action = hero.animation_data.action
    hero.name = "Hero"
    other = add_armature()
    assert other.name == "Rig"
    hero.animation_data.action = None  # recognized by the mark, not by the active action
    keys = keys_of(action)
    make(other, combinations=0)
    assert keys_of(action) == keys and other.animation_data.action != action
    make(hero, combinations=1)
    assert {a.name for a in bpy.data.actions} == {
        "Hero Range of Motion",
        other.animation_data.action.name,
    }


def test_a_copy_of_the_armature_takes_no_action_of_the_first():
    rig = add_armature()
    make(rig, combinations=0)
    action, keys = rig.animation_data.action, keys_of(rig.animation_data.action)
    copy = rig.copy()
    bpy.context.scene.collection.objects.link(copy)
    for plays in (action, None):
        rig.animation_data.action = plays
        make(copy, combinations=1)
        assert keys_of(action) == keys and copy.animation_data.action != action


def test_strips_of_the_armature_get_the_new_action():
    rig = add_armature()
    make(rig, combinations=0)
    first = rig.animation_data.action
    strip = rig.animation_data.nla_tracks.new().strips.new("Motion", 1, first)
    make(rig, combinations=1)
    assert strip.action == rig.animation_data.action
    assert len(bpy.data.actions) == 1


def as_0_2_0(action, rig):
    """The data that version 0.2.0 stored in files: the name of the armature as a custom
    property."""
    action.property_unset("araplbs_motion_of")
    rig.property_unset("araplbs_motion_mark")
    action["araplbs_motion"] = rig.name


def test_actions_of_0_2_0():
    rig = add_armature()
    make(rig, combinations=0)
    as_0_2_0(rig.animation_data.action, rig)
    assert addon("blender.poses.own_motion").is_motion_of(rig.animation_data.action, rig)
    make(rig, combinations=0)  # makes the same keys
    assert [a.name for a in bpy.data.actions] == ["Rig Range of Motion"]
    as_0_2_0(rig.animation_data.action, rig)
    old = edited(rig.animation_data.action, rig)
    keys = keys_of(old)
    make(rig, combinations=0)
    assert keys_of(old) == keys and old.use_fake_user and rig.animation_data.action != old


def test_the_mark_is_saved(tmp_path):
    rig = add_armature()
    make(rig, combinations=0)
    opened(save(tmp_path / "motion.blend"))
    rig = bpy.data.objects["Rig"]
    make(rig, combinations=2)
    assert [a.name for a in bpy.data.actions] == ["Rig Range of Motion"]


def test_marked_frames_are_poses_to_check_and_weight_in():
    rig = add_armature(bones=biped_bones())
    make(rig, combinations=0, acts=False)
    skeleton = addon("blender.read.read_armature").read_armature(rig, True)
    read = addon("blender.poses.read_poses").read_poses(
        rig, skeleton, "MARKERS", 1000, bpy.context.view_layer
    )
    assert len(read) == len(set(markers(rig).values()))


def test_a_pose_by_hand_and_the_frame_stay():
    rig = add_armature()
    other = rig.pose.bones["upper"]
    other.location.x = 0.25
    bpy.context.scene.frame_set(7)
    make(rig, combinations=0)
    assert bpy.context.scene.frame_current == 7
    assert abs(other.location.x - 0.25) < 1e-6
    assert len(bpy.data.armatures) == 1 and len(bpy.data.scenes) == 1


def test_refusals():
    rig = add_armature()
    select(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    assert not bpy.ops.object.araplbs_range_of_motion.poll()
    bpy.ops.object.mode_set(mode="OBJECT")
    for bone in rig.data.bones:
        bone.use_deform = False
    with pytest.raises(RuntimeError, match="no deform bones"):
        make(rig)
    assert not bpy.data.actions


def test_command_line(tmp_path, capsys):
    add_armature(bones=biped_bones())
    source, out = save(tmp_path / "in.blend"), tmp_path / "out.blend"
    assert run("motion", source, "--output", out, "--spacing", 5) == 0
    assert "walk and reach" in capsys.readouterr().out
    opened(out)
    rig = next(ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE")
    assert markers(rig)["Combination 12"] == markers(rig)["Combination 11"] + 5
