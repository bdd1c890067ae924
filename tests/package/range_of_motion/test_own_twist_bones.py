"""Twist bones of a rig: which bones they are, how they twist, and what skin they get."""

from dataclasses import replace

import araplbs
import numpy as np
import pytest
from araplbs.base.steps import finish
from araplbs.character.control_bones import leave_out_in_steps
from araplbs.character.mesh import Mesh
from araplbs.character.pose_sets import pose_set
from araplbs.character.problem import Problem
from araplbs.model.edits import Edits, Pairs
from araplbs.model.options import Options
from araplbs.model.sparse_weights import SparseWeights, dense_of
from araplbs.skeleton.bone_facts import BoneFacts
from araplbs.skeleton.poses import sample
from araplbs.skeleton.skeleton import Skeleton
from araplbs.skeleton.twist_bones import find_twist_bones, share_weights, twist_about, twisted
from araplbs.solvers.solve import solve
from shapes import join, tube

ARM = [(0.2, 0, 1.4), (0.6, 0, 1.4), (1.0, 0, 1.4), (1.2, 0, 1.4)]
LEG = [(0.1, 0, 0.8), (0.1, 0, 0.4), (0.1, 0, 0.05), (0.1, -0.2, 0.0)]


def skeleton_of(more=()):
    """A skeleton with arms and legs. more: further bones of each side, (name, head, tail,
    parent)."""
    bones = [("hips", (0, 0, 0.8), (0, 0, 1.1), ""), ("chest", (0, 0, 1.1), (0, 0, 1.5), "hips")]
    for side, x in (("l", 1), ("r", -1)):
        own = [
            (name, ARM[k], ARM[k + 1]) for k, name in enumerate(("upperarm", "lowerarm", "hand"))
        ]
        own += [(name, LEG[k], LEG[k + 1]) for k, name in enumerate(("thigh", "calf", "foot"))]
        above = ("chest", "upperarm", "lowerarm", "hips", "thigh", "calf")
        for name, head, tail, parent in [
            *((*bone, up) for bone, up in zip(own, above, strict=True)), *more
        ]:  # fmt: skip
            ends = (tuple(np.multiply(end, (x, 1, 1))) for end in (head, tail))
            up = parent if parent in ("chest", "hips") else f"{parent}_{side}"
            bones.append((f"{name}_{side}", *ends, up))
    names = [bone[0] for bone in bones]
    heads, tails = (np.array([bone[k] for bone in bones], float) for k in (1, 2))
    parents = np.array([names.index(bone[3]) if bone[3] else -1 for bone in bones])
    return Skeleton.from_joints(heads, parents, tails=tails, names=names)


UPPER = ("upperarm_twist_01", (0.2, 0, 1.4), (0.35, 0, 1.4), "upperarm")
FORE = ("lowerarm_twist_01", (0.8, 0, 1.4), (0.95, 0, 1.4), "lowerarm")


def found_in(skeleton, poses=None):
    return {
        skeleton.names[t.bone]: (skeleton.names[t.source], pytest.approx(t.share, abs=1e-6))
        for t in find_twist_bones(skeleton, poses)
    }


def test_twist_bones_are_known_by_name_and_place():
    assert found_in(skeleton_of([UPPER, FORE])) == {
        f"{bone}_{side}": (f"{source}_{side}", share)
        for side in "lr"
        for bone, source, share in (
            ("upperarm_twist_01", "upperarm", 0.5),
            ("lowerarm_twist_01", "hand", 0.5),
        )
    }


@pytest.mark.parametrize(
    "limb, source, factor, joints",
    [("upperarm", "upperarm", -0.75, ARM[:2]), ("lowerarm", "hand", 0.25, ARM[1:3])],
)
def test_several_twist_bones_divide_the_limb(limb, source, factor, joints):
    """The limb keeps a part of its weight only if a constraint tells the share of one of them."""
    two = [(f"{limb}_twist_{k}", *joints + np.array([k / 10, 0, 0]), limb) for k in (1, 2)]
    skeleton = skeleton_of(two)
    own, *twists = (skeleton.names.index(f"{limb}{k}_l") for k in ("", "_twist_1", "_twist_2"))
    rows = SparseWeights(np.arange(4), np.full(3, own), np.ones(3))
    points = joints[0] + np.array([[0.1], [0.35], [0.8]]) * np.subtract(joints[1], joints[0])

    def shared(turners):
        bones = find_twist_bones(replace(skeleton, turners=turners))
        return dense_of(share_weights(points, rows, bones), len(skeleton.names))

    np.testing.assert_allclose(shared({})[:, twists], [[1, 0], [0.75, 0.25], [0, 1]], atol=1e-9)
    known = {twists[0]: {skeleton.names.index(f"{source}_l"): factor}}
    assert shared(known)[:, own].max() > 0.5


def test_shares_are_the_same_on_both_sides():
    skeleton = skeleton_of([UPPER, FORE])
    names = skeleton.names
    turners = {
        names.index(f"lowerarm_twist_01_{side}"): {names.index(f"hand_{side}"): share}
        for side, share in (("l", 0.4), ("r", 0.6))
    }
    shares = {
        n: share for n, (_source, share) in found_in(replace(skeleton, turners=turners)).items()
    }
    assert shares["lowerarm_twist_01_l"] == shares["lowerarm_twist_01_r"] == 0.5


@pytest.mark.parametrize(
    "other",
    [
        ("pouch", *UPPER[1:]),  # neither its name nor its motion says so
        ("ctrl_arm_twist", *UPPER[1:]),
        ("arm_twist", (0.3, 0.2, 1.4), (0.5, 0.2, 1.4), "upperarm"),  # next to the limb
        ("arm_twist", (0.3, 0, 1.4), (0.3, 0, 1.6), "upperarm"),  # across it
        ("arm_twist", (0.3, 0, 1.4), (0.5, 0, 1.4), "hand"),  # of another bone
    ],
)
def test_other_bones_are_not(other):
    assert not found_in(skeleton_of([other]))


def test_a_twist_bone_on_one_side_only_is_not_known():
    skeleton = skeleton_of([UPPER])
    deform = np.array([name != "upperarm_twist_01_r" for name in skeleton.names])
    assert not found_in(replace(skeleton, deform=deform))


def random_poses(skeleton):
    return sample(skeleton, Options(pose_count=60), None)[0]


@pytest.mark.parametrize("name", ["upperarm_twist_01", "pouch"])
def test_poses_of_the_rig_tell_the_share(name):
    skeleton = skeleton_of([(name, *UPPER[1:]), FORE])
    marked = skeleton_of([UPPER, FORE])
    bones = [replace(t, share=0.3) for t in find_twist_bones(marked)]
    poses = twisted(random_poses(skeleton), bones, skeleton)
    shares = {key: share for key, (_source, share) in found_in(skeleton, poses).items()}
    assert shares == {f"{n}_{side}": 0.3 for n in (name, FORE[0]) for side in "lr"}


def test_a_bone_that_swings_is_no_twist_bone():
    skeleton = skeleton_of([UPPER, FORE])
    assert not found_in(skeleton, random_poses(skeleton))


def character():
    """(vertices, triangles) of a body with round limbs."""
    trunk, triangles = tube(along=9, radius=0.15, height=0.75)
    parts = [(trunk + np.array([0, 0, 0.75]), triangles)]
    across, height = np.array([[0, 0, 1], [0, 1, 0], [-1, 0, 0]]), ARM[3][0] - ARM[0][0]
    for x in (1, -1):
        arm, triangles = tube(along=25, radius=0.06, height=height)
        arm = arm @ across * (-1, 1, 1) + ARM[0]
        leg, _triangles = tube(along=25, radius=0.07, height=0.75)
        parts += [(arm * (x, 1, 1), triangles), (leg + np.array([x * 0.1, 0, 0.05]), triangles)]
    return join(*parts)


def weighed(skeleton, **options):
    known = {"tails": skeleton.tails, "names": skeleton.names, "threads": 1, "pose_count": 20}
    rows = araplbs.weights(*character(), skeleton.heads, skeleton.parents, **known, **options).rows
    return dense_of(SparseWeights(*rows), len(skeleton.names))


def test_twist_bones_take_the_skin_of_their_limbs():
    """Together, limb and twist bone have the weights that the limb has without twist bones, and
    the twist bones of a forearm, at the wrist, have all of it."""
    skeleton = skeleton_of([UPPER, FORE])
    names = skeleton.names
    is_twist = np.array(["twist" in name for name in names])
    without, found = weighed(skeleton, deform=~is_twist), weighed(skeleton)
    ours = dict(zip(names, found.T, strict=True))
    for name, weights in zip(names, without.T, strict=True):
        if "twist" not in name:
            twist = ours.get(f"{name[:-2]}_twist_01{name[-2:]}", 0)
            np.testing.assert_allclose(ours[name] + twist, weights, atol=1e-9)
    for side in "lr":
        assert ours[f"upperarm_twist_01_{side}"].sum() > 5
        fore = ours[f"lowerarm_twist_01_{side}"]
        assert fore.sum() > 5
        x = np.abs(character()[0][:, 0])
        near = (x > 0.9) & (x < 0.98)
        assert (ours[f"lowerarm_{side}"][near] == 0).all() and fore[near].sum() > 1


def test_twist_bones_keep_the_limit_of_influences():
    skeleton = skeleton_of([UPPER, FORE])
    found = weighed(skeleton, max_influences=2)
    assert (found > 0).sum(axis=1).max() == 2
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-6)


def test_a_small_part_goes_to_the_limb_and_other_small_weights_are_cut():
    skeleton = skeleton_of([UPPER])
    limb, chest, hips = (skeleton.names.index(name) for name in ("upperarm_l", "chest", "hips"))
    weights = np.tile([0.1, 0.3, 0.6], 2)
    rows = SparseWeights(np.array([0, 3, 6]), np.tile([hips, chest, limb], 2), weights)
    points = np.array([[0.2 + 0.4 * at, 0, 1.4] for at in (0.63, 0.88)])
    bones = find_twist_bones(skeleton)
    own = next(twist.bone for twist in bones if twist.limb == limb)
    kept = dense_of(share_weights(points, rows, bones, 3, to_cut=True), len(skeleton.names))
    np.testing.assert_allclose(kept[0, [limb, own, chest, hips]], [0.33, 0.27, 0.3, 0.1])
    np.testing.assert_allclose(kept[1, [limb, own, chest, hips]], [0.6, 0, 0.3, 0.1])
    exact = dense_of(share_weights(points, rows, bones, 3), len(skeleton.names))
    np.testing.assert_allclose(exact[0, [limb, own, chest, hips]], [0.6, 0, 0.3, 0.1])


def test_the_report_names_twist_bones_and_leaves_none_out():
    vertices, triangles = character()
    skeleton = skeleton_of([UPPER, FORE])
    known = {"tails": skeleton.tails, "names": skeleton.names, "threads": 1, "pose_count": 20}
    report = araplbs.weights(vertices, triangles, skeleton.heads, skeleton.parents, **known).report
    named = {name for name in skeleton.names if "twist" in name}
    assert set(report["twist_bones"]) == named and not named & set(report["control_bones"])


def locked_rows(skeleton):
    """Weights of 1 on the chest, except those that are locked."""
    count = len(character()[0])
    bones = np.full(count, skeleton.names.index("chest"))
    bones[-20:] = skeleton.names.index("foot_r")
    return SparseWeights(np.arange(count + 1), bones, np.ones(count))


def test_evidence_leaves_no_twist_bone_out_as_a_control():
    """A bone with another name in its place is left out."""
    for name, gone in (("upperarm_twist_01", False), ("pouch", True)):
        skeleton = skeleton_of([(name, *UPPER[1:])])
        marked = np.array([own.startswith(name) for own in skeleton.names])
        facts = BoneFacts(skeleton.names, skeleton.deform, skeleton.parents, skeleton.other_side)
        facts = replace(facts, pole_target=marked, ik_target=marked)
        mesh = Mesh("Body", *character(), np.zeros((0, 2), int), np.eye(4))
        _meshes, left = finish(leave_out_in_steps([mesh], skeleton, 1, facts))
        assert (marked & left.left_out).any() == gone


@pytest.mark.parametrize("name", ["upperarm_l", "upperarm_twist_01_l"])
@pytest.mark.parametrize("by", ["locks", "edits"])
def test_limbs_with_locked_weights_or_edits_are_not_shared(name, by):
    skeleton = skeleton_of([UPPER, FORE])
    bone = np.array([skeleton.names.index(name)])
    locked = np.isin(np.arange(len(skeleton.names)), bone)
    edits = Edits(constraints=Pairs(np.array([100]), bone, np.array([1.0])))
    locks = {"weights": locked_rows(skeleton), "locked_bones": locked}
    known = {"locks": locks, "edits": {"edits": edits}}
    shared = problem_of(skeleton, **known[by]).shared_twist_bones
    assert sorted(skeleton.names[twist.bone] for twist in shared) == [
        "lowerarm_twist_01_l", "lowerarm_twist_01_r", "upperarm_twist_01_r"
    ]  # fmt: skip


def test_locks_of_other_bones_and_vertices_are_kept():
    skeleton = skeleton_of([UPPER, FORE])
    names, rows = skeleton.names, locked_rows(skeleton)
    rows.bones[:2] = names.index("upperarm_l")  # of a locked vertex, and of one that is free
    rows.bones[2] = names.index("upperarm_twist_01_l")
    vertices = np.arange(rows.count) == 0
    locked = np.array([name == "foot_r" for name in names])
    known = {"weights": rows, "locked_bones": locked, "locked_vertices": vertices}
    problem = problem_of(skeleton, **known)
    assert len(problem.shared_twist_bones) == 4
    found = dense_of(solve(problem, Options(pose_count=20), threads=1).rows, len(names))
    assert found[0, names.index("upperarm_l")] == 1
    assert (found[-20:, names.index("foot_r")] == 1).all()
    for name in ("upperarm", "lowerarm"):
        assert found[:, names.index(f"{name}_twist_01_l")].sum() > 5


def test_rigid_parts_stay_rigid():
    vertices, _triangles = character()
    part = np.flatnonzero((vertices[:, 0] > 0.25) & (vertices[:, 0] < 0.5))
    found = weighed(skeleton_of([UPPER, FORE]), rigid=[part])
    np.testing.assert_allclose(found[part], np.tile(found[part[0]], (len(part), 1)), atol=1e-9)


def problem_of(skeleton, **known):
    vertices, triangles = character()
    mesh = Mesh("Body", vertices, triangles, np.zeros((0, 2), int), np.eye(4), **known)
    return Problem([mesh], skeleton)


def test_random_poses_turn_twist_bones_by_their_share():
    skeleton = skeleton_of([UPPER, FORE])
    poses = pose_set(problem_of(skeleton), Options(pose_count=30)).transforms
    index = skeleton.names.index

    def turn(bone, above):
        return poses[:, index(above), :, :3].transpose(0, 2, 1) @ poses[:, index(bone), :, :3]

    axis = np.array([1.0, 0, 0])
    hand = twist_about(turn("hand_l", "lowerarm_l"), axis)
    own = turn("lowerarm_twist_01_l", "lowerarm_l")
    assert np.abs(hand).max() > 0.5
    np.testing.assert_allclose(twist_about(own, axis), hand / 2, atol=1e-6)
    np.testing.assert_allclose(own @ axis, np.tile(axis, (len(own), 1)), atol=1e-6)
    upper = twist_about(turn("upperarm_l", "chest"), axis)
    some = np.abs(upper) < np.pi / 2
    own = twist_about(turn("upperarm_twist_01_l", "upperarm_l"), axis)
    np.testing.assert_allclose(own[some], -upper[some] / 2, atol=1e-6)
