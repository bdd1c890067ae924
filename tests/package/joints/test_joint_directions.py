"""Tests Optimize Joints on skeletons derived from joints. The given tails have no meaning, and the
written skeleton keeps them."""

import numpy as np
import pytest
import shapes
from araplbs.base.steps import finish
from araplbs.character.directions import read_directions_in_steps
from araplbs.character.mesh import Mesh
from araplbs.character.problem import Problem
from araplbs.features.joints.joints import JointRun
from araplbs.features.joints.moved_joints import moved_skeleton
from araplbs.features.joints.options import JointOptions
from araplbs.skeleton.skeleton import Skeleton

# A limb of four bones; the joints in the middle of it are off its axis.
JOINTS = np.array([(0, 0, 0.1), (0.09, 0.03, 1.0), (-0.05, 0.07, 2.0), (0.06, -0.05, 3.0)])
END = (0, 0, 3.9)
PARENTS = np.arange(4) - 1


def limb():
    vertices, triangles = shapes.tube(12, 41, 0.3, 4.0, caps=True)
    return [Mesh("Limb", vertices, triangles, np.zeros((0, 2), np.int32), np.eye(4))]


def skeleton(kind):
    """A skeleton with given tails, with tails aside, or with tails 100 times too long."""
    tails = np.vstack([JOINTS[1:], END])
    if kind == "aside":
        tails = JOINTS + np.array([0, 0.4, 0])
    if kind == "long":
        tails = JOINTS + 100 * (tails - JOINTS)
    return Skeleton.from_joints(JOINTS, PARENTS, tails=tails)


def run(kind, choice="AUTOMATIC"):
    """(skeleton as it is read, JointSolution)"""
    meshes = limb()
    read = finish(read_directions_in_steps(meshes, skeleton(kind), choice))
    options = JointOptions(anchor=0.0, pose_count=40, bone_directions=choice)
    none = np.zeros((4, 2), bool)
    return read, JointRun(Problem(meshes, read), meshes, options, none, np.ones(4)).solve()


def off_axis(skeleton):
    return np.linalg.norm(skeleton.heads[1:, :2], axis=1)


DIRECTIONS = {"drawn": "TAILS", "aside": "JOINTS", "long": "LENGTHS"}


@pytest.fixture(scope="module")
def runs():
    return {kind: run(kind) for kind in DIRECTIONS}


@pytest.mark.parametrize("kind", DIRECTIONS)
def test_joints_are_found_as_well_as_with_drawn_tails(kind, runs):
    read, solution = runs[kind]
    assert read.directions == solution.skeleton.directions == DIRECTIONS[kind]
    assert (off_axis(solution.skeleton) < 0.6 * off_axis(read)).all()
    drawn = runs["drawn"][1]
    np.testing.assert_allclose(solution.skeleton.heads, drawn.skeleton.heads, atol=0.02)
    assert solution.weights.report["energy_after"] < 1.02 * drawn.weights.report["energy_after"]


def test_tails_that_mean_nothing_keep_their_direction(runs):
    read, solution = runs["aside"]
    after = solution.skeleton.as_drawn
    np.testing.assert_allclose(after.tails - after.heads, np.tile([0, 0.4, 0], (4, 1)), atol=1e-12)
    np.testing.assert_array_equal(after.roll_axes, read.roll_axes)
    assert np.abs(after.heads - read.heads).max() > 0.03


def test_tails_of_a_wrong_length_point_at_the_joints_again(runs):
    read, solution = runs["long"]
    after = solution.skeleton.as_drawn
    before = read.as_drawn
    lengths = [np.linalg.norm(s.tails - s.heads, axis=1) for s in (before, after)]
    np.testing.assert_allclose(*lengths, rtol=1e-9)
    for bone in range(3):
        along = after.tails[bone] - after.heads[bone]
        way = after.heads[bone + 1] - after.heads[bone]
        assert along @ way > 0.999999 * np.linalg.norm(along) * np.linalg.norm(way)


def test_joints_that_tails_say_are_found_on_request():
    """With this choice, tails are read, and written as optimized."""
    _read, solution = run("drawn", "TAILS")
    assert solution.skeleton.directions == "TAILS"
    np.testing.assert_array_equal(solution.skeleton.tails, solution.skeleton.drawn_tails)
    np.testing.assert_allclose(solution.skeleton.tails[:3], solution.skeleton.heads[1:], atol=1e-12)


def test_ends_of_other_bones_at_a_joint_go_with_it():
    """A control at a joint, and a tail that happens to be at one."""
    joints = np.vstack([JOINTS, JOINTS[2]])
    tails = joints + np.array([0, 0.4, 0])
    tails[0] = JOINTS[1]
    known = {"tails": tails, "deform": [True] * 4 + [False]}
    read = Skeleton.from_joints(joints, [*PARENTS, -1], **known)
    read = finish(read_directions_in_steps(limb(), read, "JOINTS"))
    heads = read.heads + np.arange(5)[:, None] * [0.01, 0, 0]
    heads[4] = read.heads[4]
    after = moved_skeleton(read, heads, read.tails)
    moves = after.heads - read.heads
    np.testing.assert_allclose(moves[:, 0], [0, 0.01, 0.02, 0.03, 0.02], atol=1e-12)
    np.testing.assert_allclose(after.drawn_tails[0], after.heads[1], atol=1e-12)
    np.testing.assert_allclose(
        (after.drawn_tails - after.heads)[1:], np.tile([0, 0.4, 0], (4, 1)), atol=1e-12
    )
