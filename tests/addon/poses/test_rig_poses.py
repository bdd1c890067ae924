"""Random poses of a rig show how constraints and drivers respond to rotated controls."""

from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from deep import deep_snapshot, difference, without_weights
from mathutils import Matrix
from rigs import (
    MOVED,
    constrain,
    driven_rig,
    driver,
    held_rig,
    hide,
    ik_rig,
    locked_human,
    piston_rig,
    rigify_human,
    spline_rig,
    stacked_rig,
    stretch_rig,
    twist_rig,
)
from scenes import (
    add_armature,
    add_tube,
    addon,
    assert_good,
    auto_weight,
    entries,
    package,
    select,
    tube_and_rig,
    weighting,
)

COUNT = 12


def options(**values):
    return package("model.options").Options(**{"pose_count": COUNT, **values})


def skeleton_of(rig):
    bpy.context.view_layer.update()
    return addon("blender.read.read_armature").read_armature(rig, True)


def sampled(rig, lines=None, **values):
    """(Poses or None, Skeleton)."""
    skeleton = skeleton_of(rig)
    steps = addon("blender.rig.rig_poses").rig_poses_in_steps(
        rig, skeleton, options(**values), [] if lines is None else lines
    )
    return package("base.steps").finish(steps), skeleton


def local(poses, skeleton, rig, bone, parent):
    """(p, 4, 4) of a bone relative to its parent's rest."""
    whole = np.zeros((*poses.transforms.shape[:2], 4, 4))
    whole[:, :, :3], whole[:, :, 3, 3] = poses.transforms, 1
    b, up = skeleton.names.index(bone), skeleton.names.index(parent)
    rest = np.array(rig.data.bones[bone].matrix_local)
    return np.linalg.inv(rest) @ np.linalg.inv(whole[:, up]) @ whole[:, b] @ rest


def eulers(matrices, order="XYZ"):
    return np.array([Matrix(m.tolist()).to_euler(order) for m in matrices])


def change_by_pilot(rig, plan, which):
    """Changes the controls as the first poses of a plan do."""
    package("base.steps").finish(
        addon("blender.rig.rig_poses").plan_poses_in_steps(rig, plan, which)
    )


@pytest.mark.parametrize("name", MOVED)
def test_as_blender_shows_it(name):
    """The poses equal those of the rig itself with the same controls set by hand. Reading them
    changes nothing in the file."""
    rig = MOVED[name]()
    skeleton = skeleton_of(rig)
    before = deep_snapshot()
    lines = []
    poses, _ = sampled(rig, lines)
    assert not difference(before, deep_snapshot())
    assert not lines and poses.whole and len(poses) == COUNT
    relations = addon("blender.rig.rig_relations").read_relations(rig)
    plan = addon("blender.rig.rig_plan").RigPlan(rig, skeleton, relations, options())
    evaluated = range(0, COUNT, 2)
    change_by_pilot(rig, plan, evaluated)
    addon("blender.rig.rig_copy").set_up(rig, plan)
    names = [skeleton.names[b] for b in np.flatnonzero(skeleton.deform)]
    moved = set()
    for k in evaluated:
        plan.pose(rig, k)
        bpy.context.view_layer.update()
        posed = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        for bone in names:
            rest = rig.data.bones[bone].matrix_local
            expected = np.array(posed[bone].matrix @ rest.inverted())[:3]
            got = poses.transforms[k, skeleton.names.index(bone)]
            np.testing.assert_allclose(got, expected, atol=2e-4)
            if np.abs(got[:, :3] - np.eye(3)).max() > 0.05:
                moved.add(bone)
    assert moved == set(names), "all of it turns"


@pytest.mark.parametrize("name", MOVED)
def test_frames_of_an_action_are_what_is_set_bone_by_bone(name, monkeypatch):
    """The results are bit-identical, wherever one copy ends and the next begins."""
    rig = MOVED[name]()
    played, _skeleton = sampled(rig)
    monkeypatch.setattr(addon("blender.rig.rig_frames").Frames, "can_play", lambda _switches: False)
    monkeypatch.setattr(addon("blender.rig.rig_copy"), "is_at_once", lambda: False)
    monkeypatch.setattr(addon("blender.rig.rig_copy"), "STEP", 0.0)
    one_by_one, _skeleton = sampled(rig)
    np.testing.assert_array_equal(played.transforms, one_by_one.transforms)
    np.testing.assert_array_equal(played.joints, one_by_one.joints)


# Rigs with few deform bones: the bones that these follow, and a bone that they do not follow.
FEW = {
    "twist": (twist_rig, ["upper", "twist"], "hand", None),
    "root of a chain of IK": (ik_rig, ["upper"], "pole", None),
    "muscle": (stretch_rig, ["upper", "muscle"], "tip", "hand"),
    "driven": (driven_rig, ["corrective"], "fore", "hand"),
    "spline": (spline_rig, ["tail0"], "high", None),
    "piston": (piston_rig, ["rod"], "sleeve", "hand"),
}


@pytest.mark.parametrize("name", FEW)
def test_what_no_deform_bone_follows_is_not_evaluated(name, monkeypatch):
    """The poses are bit-identical to the poses from an evaluation of the whole rig."""
    make, deform, followed, other = FEW[name]
    rig = make()
    for bone in rig.data.bones:
        bone.use_deform = bone.name in deform
    plans, kind = [], addon("blender.rig.rig_plan").RigPlan
    find = kind._find_needed

    def note(plan):
        plans.append({plan.skeleton.names[b] for b in find(plan)})
        return find(plan)

    monkeypatch.setattr(kind, "_find_needed", note)
    poses, skeleton = sampled(rig)
    assert followed in plans[0] and other not in plans[0]
    everything = set(range(len(skeleton.names)))
    monkeypatch.setattr(kind, "_find_needed", lambda _plan: everything)
    expected, _skeleton = sampled(rig)
    own = [skeleton.names.index(bone) for bone in deform]
    np.testing.assert_array_equal(poses.transforms[:, own], expected.transforms[:, own])


def test_what_is_let_go_rests():
    rig = twist_rig(("gauge", (1, 0, 0), (1, 0, 1), None))
    for bone in rig.data.bones:
        bone.use_deform = bone.name in ("hand", "twist")
    rig.data.bones["gauge"].bbone_segments = 4
    constrain(rig, "gauge", "COPY_ROTATION", "hand")
    driver(rig, 'pose.bones["gauge"].location', 0, "turn")
    skeleton, find = skeleton_of(rig), addon("blender.rig.rig_relations").read_relations
    plan = addon("blender.rig.rig_plan").RigPlan(rig, skeleton, find(rig), options())
    addon("blender.rig.rig_copy").set_up(rig, plan)
    muted = {(bone.name, c.type) for bone in rig.pose.bones for c in bone.constraints if c.mute}
    assert muted == {("gauge", "COPY_ROTATION")}
    assert [curve.mute for curve in rig.animation_data.drivers] == [True]
    assert rig.data.bones["gauge"].bbone_segments == 1


def test_ik_reaches_its_target():
    rig = ik_rig()
    poses, skeleton = sampled(rig)
    tip = np.append(skeleton.tails[skeleton.names.index("fore")], 1)
    at = poses.transforms[:, skeleton.names.index("fore")] @ tip
    root = poses.transforms[:, skeleton.names.index("upper")] @ [0, 0, 0, 1]
    target = poses.transforms[:, skeleton.names.index("reach")] @ tip
    np.testing.assert_allclose(at, target, atol=0.02)
    distance = np.linalg.norm(at - root, axis=1)
    assert distance.max() < 2.01 and distance.min() < 1.8, "elbows bend"
    directions = (at - root) / distance[:, None]
    assert np.ptp(directions, axis=0).max() > 0.8, "and arms are raised"


@pytest.mark.parametrize("parent", [None, "shoulder"])
def test_controls_without_local_location(parent):
    rig = ik_rig()
    bpy.ops.object.mode_set(mode="EDIT")
    bones = rig.data.edit_bones
    bones["shoulder"].tail = (0.3, 0, -0.1)
    bones["reach"].parent = parent and bones[parent]
    bpy.ops.object.mode_set(mode="OBJECT")
    expected = sampled(rig)[0].transforms
    rig.data.bones["reach"].use_local_location = False
    np.testing.assert_allclose(sampled(rig)[0].transforms, expected, atol=1e-4)


def test_ik_to_an_object_outside_is_posed_by_its_bones():
    rig = ik_rig()
    empty = bpy.data.objects.new("Empty", None)
    bpy.context.scene.collection.objects.link(empty)
    constraint = rig.pose.bones["fore"].constraints[0]
    constraint.target, constraint.pole_target = empty, None
    lines = []
    assert sampled(rig, lines)[0] is None and not lines, "nothing else moves it"
    constrain(rig, "shoulder", "COPY_ROTATION", "reach")
    poses, skeleton = sampled(rig, lines)
    bends = eulers(local(poses, skeleton, rig, "fore", "upper"))
    assert not lines and np.ptp(bends[:, 0]) > 0.5


def test_joints_of_several_controls_turn_no_further():
    angles = []
    for controls in (1, 6):
        rig = stacked_rig(controls)
        poses, skeleton = sampled(rig, pose_count=80, twist=0.0)
        turns = local(poses, skeleton, rig, "hand", "fore")[:, :3, :3]
        angles.append(np.arccos((np.trace(turns, axis1=1, axis2=2) - 1) / 2))
    one, six = (np.sqrt((each**2).mean()) for each in angles)
    assert one == pytest.approx(np.radians(60) / 3**0.5, rel=0.1)
    assert 0.6 * one < six < 1.3 * one


def test_curves_are_copied_too():
    """Hooks of the curve follow the controls of the copy, however the rig itself is posed."""
    rig = spline_rig()
    poses, skeleton = sampled(rig)
    last = skeleton.names.index("tail5")
    assert np.ptp(poses.transforms[:, last, :, 3], axis=0).max() > 0.05
    rig.pose.bones["high"].location.x = 1
    np.testing.assert_allclose(sampled(rig)[0].transforms, poses.transforms, atol=1e-4)


def test_locked_axes_do_not_turn():
    """Locked axes do not turn in any rotation mode, in rigs with or without constraints."""
    for constrained in (False, True):
        rig = locked_human()
        if constrained:
            constrain(rig, "Hips", "LIMIT_LOCATION")
        skeleton = skeleton_of(rig)
        poses, _ = sampled(rig)
        assert (poses is not None) == constrained
        if poses is None:
            transforms, _bends = package("skeleton.poses").sample(skeleton, options(), None)
            poses = package("skeleton.poses").Poses(transforms, None)
        for side in ("Left", "Right"):
            names = f"mixamorig:{side}Leg", f"mixamorig:{side}UpLeg"
            knee = eulers(local(poses, skeleton, rig, *names))
            assert np.abs(knee[:, 1:]).max() < 1e-5 and np.ptp(knee[:, 0]) > 0.5


def test_locks():
    module = addon("blender.read.read_armature")
    _tube, rig = tube_and_rig()
    middle = rig.pose.bones["middle"]
    middle.lock_ik_z = True
    assert np.isnan(module.read_armature(rig, True).limits).all(), "not in a chain of IK"
    constrain(rig, "upper", "IK")
    assert module.read_armature(rig, True).limits[1, 2].tolist() == [0, 0]
    middle.lock_ik_z = False
    middle.lock_rotation = (True, False, False)
    assert module.read_armature(rig, True).limits[1, 0].tolist() == [0, 0]
    assert np.isnan(module.read_armature(rig, False).limits).all()
    middle.rotation_mode, middle.lock_rotations_4d = "AXIS_ANGLE", True
    middle.lock_rotation = (False, True, False)  # the axis is Y
    assert np.isnan(module.read_armature(rig, True).limits[1]).all()
    middle.lock_rotation_w = True
    assert (module.read_armature(rig, True).limits[1] == 0).all()


def test_locks_of_what_constraints_turn_say_nothing():
    rig = twist_rig()
    rig.pose.bones["twist"].lock_rotation = (True, True, True)
    assert np.isnan(skeleton_of(rig).limits).all()


def test_rigs_that_do_not_move_themselves_keep_their_weights():
    tube, rig = tube_and_rig()
    limit = rig.pose.bones["middle"].constraints.new("LIMIT_ROTATION")
    limit.owner_space, limit.use_limit_x, limit.max_x = "LOCAL", True, 1.0
    copy = constrain(rig, "upper", "COPY_ROTATION", "lower")
    copy.mute = True
    assert sampled(rig)[0] is None
    auto_weight(tube, rig, pose_count=COUNT)
    before = entries(tube)
    auto_weight(tube, rig, pose_count=COUNT, through_rig=False)
    assert entries(tube) == before


def test_weights_follow_the_rig():
    """The operator adds one undo step and changes only weights."""
    rig, tube = twist_rig(), add_tube()
    auto_weight(tube, rig, pose_count=COUNT, through_rig=False)
    apart = assert_good(tube, rig)
    select(tube, rig)
    before = deep_snapshot()
    auto_weight(tube, rig, pose_count=COUNT)
    assert not without_weights(difference(before, deep_snapshot()), tube)
    assert np.abs(assert_good(tube, rig) - apart).max() > 0.01


def test_hidden_controls_pose_what_the_others_leave_still():
    """The hand is hidden, and its twist bone still follows it. Visible bones move as before."""
    rig = twist_rig()
    shown = sampled(rig)[0]
    hide(rig, "hand")
    poses, skeleton = sampled(rig)
    assert poses.posed_by == {
        "controls": ["upper", "fore"],
        "hidden_controls": ["hand", "twist"],
        "bone_by_bone": [],
    }
    np.testing.assert_allclose(poses.transforms, shown.transforms, atol=1e-5)
    rig.pose.bones["hand"].lock_rotation = (True, True, True)
    still = sampled(rig)[0]
    hand = local(still, skeleton, rig, "hand", "fore")
    np.testing.assert_allclose(hand, np.tile(np.eye(4), (COUNT, 1, 1)), atol=1e-5)
    assert still.posed_by["controls"] == ["upper", "fore", "hand"], "as far as its limits allow"


def test_what_no_control_moves_turns_on_its_own(capfd):
    rig = held_rig()
    poses, skeleton = sampled(rig)
    assert poses.posed_by["bone_by_bone"] == ["nail"]
    nail = local(poses, skeleton, rig, "nail", "hand")
    turns = np.arccos(np.clip((np.trace(nail[:, :3, :3], axis1=1, axis2=2) - 1) / 2, -1, 1))
    assert 0.2 < turns.mean() < 1
    tube = add_tube()
    auto_weight(tube, rig, pose_count=COUNT)
    line = "Bones posed through the rig: 4, bone by bone: 1 (nail)"
    assert line in capfd.readouterr().out


def test_report_says_what_poses_each_bone():
    rig, tube = twist_rig(), add_tube()
    hide(rig, "hand")
    for through_rig in (True, False):
        task = weighting(rig, tube, pose_count=COUNT, through_rig=through_rig)
        task.solve()
        report = task.apply()
        lines = "\n".join(package("reports.report").notes(report))
        assert (report["posed_by"] is not None) == through_rig
        assert ("posed through the rig: 2, by hidden controls: 2" in lines) == through_rig


@pytest.mark.parametrize(
    ("settings", "bounded"),
    [({}, True), ({"mute": True}, False), ({"owner_space": "WORLD"}, False)],
)
@pytest.mark.parametrize("sides", ["xyz", "xy"])
def test_controls_that_are_kept_at_their_place_take_no_limb_along(settings, bounded, sides):
    rig = ik_rig()
    limits = {f"use_{end}_{axis}": True for end in ("min", "max") for axis in sides}
    constrain(rig, "reach", "LIMIT_LOCATION", **{"owner_space": "LOCAL", **limits, **settings})
    relations = addon("blender.rig.rig_relations").read_relations(rig)
    plan = addon("blender.rig.rig_plan").RigPlan(rig, skeleton_of(rig), relations, options())
    names = [plan.skeleton.names[r.control] for r in plan.reaches]
    assert ("reach" in names) != (bounded and sides == "xyz")


def test_a_joint_that_hardly_moves_turns_on_its_own():
    """The constraints of the joint leave only 2 % of its rotation."""
    rig = twist_rig()
    rig.pose.bones["twist"].constraints[0].influence = 0.02
    assert sampled(rig)[0].posed_by["bone_by_bone"] == ["twist"]
    rig.pose.bones["twist"].constraints[0].influence = 0.5
    assert not sampled(rig)[0].posed_by["bone_by_bone"]


def test_circles_do_not_tear():
    """The ends of pistons stay at their hinges."""
    rig, lines = piston_rig(), []
    poses, skeleton = sampled(rig, lines)
    assert not lines and not poses.posed_by["bone_by_bone"]
    for bone, parent in (("rod", "upper"), ("sleeve", "fore")):
        hinge = local(poses, skeleton, rig, bone, parent)
        assert np.abs(hinge[:, :3, 3]).max() < 1e-4
        assert np.ptp(hinge[:, :3, :3], axis=0).max() > 0.1


def test_ends_of_limbs_are_not_tied_in_circles():
    """The end of each limb would be tied to a descendant of the other limb's end."""
    module = package("skeleton.rig_relations")
    followers = [{1}, set(), {3}, set(), {1, 2}, {3, 0}]
    relations = module.Relations(
        followers,
        *([set() for _ in followers] for _ in range(2)),
        driven=np.array([False, True, False, True, False, False]),
        free=np.ones(6, bool),
        chains=[module.Chain([1], 4, -1, 1.0), module.Chain([3], 5, -1, 1.0)],
    )
    skeleton = SimpleNamespace(
        parents=np.array([-1, 0, -1, 2, -1, -1]), heads=np.arange(18.0).reshape(6, 3)
    )
    ends = np.arange(6) >= 4
    found = package("skeleton.rig_reaches").find_reaches(
        relations, skeleton, ends, ends, ~ends & ends
    )
    assert [(r.control, r.anchor, r.length) for r in found] == [(4, 0, 0), (5, -1, 0)]


@pytest.mark.parametrize("symmetric", [True, False])
def test_images_are_not_evaluated(symmetric, monkeypatch):
    rig = locked_human()
    constrain(rig, "Hips", "LIMIT_LOCATION")
    plan = addon("blender.rig.rig_plan").RigPlan
    evaluated, pose = [], plan.pose
    monkeypatch.setattr(plan, "ease", lambda *_args: False)
    monkeypatch.setattr(plan, "pose", lambda self, *to: (evaluated.append(to[1]), pose(self, *to)))
    for count in (COUNT, COUNT - 1):
        evaluated.clear()
        poses, skeleton = sampled(rig, symmetric=symmetric, pose_count=count)
        assert len(poses) == count and evaluated == list(range(0, count, 1 + symmetric))
    partners = package("skeleton.symmetry").bone_partners(skeleton)
    flip = np.diag([-1.0, 1, 1, 1])
    images = flip[:3, :3] @ poses.transforms[:-1:2, partners] @ flip
    assert np.allclose(poses.transforms[1::2], images, atol=1e-6) == symmetric


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda rig: driven_rig("1 / 0 * nothing"), "does not run"),
        (lambda rig: fixed_rig(), "no control"),
    ],
)
def test_what_cannot_be_driven_is_posed_bone_by_bone(spoil, reason):
    rig, tube = spoil(None), add_tube()
    lines = []
    assert sampled(rig, lines)[0] is None
    assert len(lines) == 1 and reason in lines[0] and "rotates independently" in lines[0]
    task = weighting(rig, tube, pose_count=COUNT)
    assert lines[0] in task.warnings
    assert "poses" not in task.problem.arguments
    task.solve()
    task.apply()
    assert_good(tube, rig)


def fixed_rig():
    rig = add_armature()
    empty = bpy.data.objects.new("Empty", None)
    bpy.context.scene.collection.objects.link(empty)
    for posed in rig.pose.bones:
        posed.constraints.new("COPY_ROTATION").target = empty
    return rig


def test_rigify(tmp_path):
    """Rigify's human has both positions of its switches, limbs that reach for targets, and
    symmetric poses."""
    rig = rigify_human(tmp_path)
    before = deep_snapshot()
    lines = []
    poses, skeleton = sampled(rig, lines, pose_count=16)
    assert not difference(before, deep_snapshot())
    assert not lines and len(poses) == 16
    relations = addon("blender.rig.rig_relations").read_relations(rig)
    plan = addon("blender.rig.rig_plan").RigPlan(rig, skeleton, relations, options(pose_count=16))
    switches = {(s.owner.split('"')[1], s.name) for s, _bit in plan.switches}
    assert switches == {
        (f"{limb}_parent.{side}", "IK_FK") for limb in ("upper_arm", "thigh") for side in "LR"
    }
    ends = {skeleton.names[r.control][:4] for r in plan.reaches}
    assert ends == {"hand", "foot"}
    posed = {skeleton.names[b] for b in np.flatnonzero(plan.controls)}
    assert {"hand_ik.L", "upper_arm_fk.R", "chest", "torso"} <= posed
    assert not any(name.startswith(("ORG-", "MCH-", "DEF-")) for name in posed)
    # The second half of a limb twists with the tweak and the hand, and has no swing of its own.
    second = eulers(local(poses, skeleton, rig, "DEF-forearm.L.001", "DEF-forearm.L"), "YXZ")
    fore = eulers(local(poses, skeleton, rig, "DEF-forearm.L", "DEF-upper_arm.L.001"))
    assert np.abs(fore[:, 0]).max() > 0.5 and np.abs(second[:, [0, 2]]).max() < 0.3
    flip = np.diag([-1.0, 1, 1, 1])
    for name in ("DEF-hand", "DEF-forearm", "DEF-shin", "DEF-foot"):
        left, right = (skeleton.names.index(f"{name}.{side}") for side in "LR")
        images = flip[:3, :3] @ poses.transforms[::2, left] @ flip
        np.testing.assert_allclose(poses.transforms[1::2, right], images, atol=5e-3)
