"""Tests pictures of joints in their worst poses: the chosen joints, the pose, and the contents."""

import araplbs
import numpy as np
import pytest
import shapes
from araplbs.character.mesh import Mesh
from araplbs.character.problem import Problem
from araplbs.model.sparse_weights import sparse_of
from araplbs.reports.worst_poses import MOST, SIDE, joints_of, worst_poses
from araplbs.skeleton.poses import Poses
from araplbs.skeleton.skeleton import Skeleton
from test_body import UP, human


def skeleton_of(bones):
    return Skeleton.from_joints(bones.heads, bones.parents, tails=bones.tails, names=bones.names)


def test_joints_of_a_body():
    """Shoulder, elbow, hip and knee, on both sides."""
    bones = human()
    skeleton = skeleton_of(bones)
    groups = joints_of(skeleton, UP)
    heads = [skeleton.heads[[joint.bone for joint in group]] for group in groups]
    assert len(groups) == 4 and all(len(group) == 2 for group in groups)
    shoulder, elbow, hip, knee = (each[0] for each in heads)
    assert abs(elbow[0]) > abs(shoulder[0]) and hip[2] > knee[2] and shoulder[2] > hip[2]
    for left, right in heads:
        np.testing.assert_allclose(left * (-1, 1, 1), right, atol=1e-9)


def tube(bend_at, n=24, around=16):
    """A tube of three bones along X, with weights that change abruptly at `bend_at`."""
    vertices, triangles = shapes.tube(around, n, 0.3, 3.0)
    bone = np.digitize(vertices[:, 2], bend_at)
    return vertices[:, [2, 0, 1]], triangles, sparse_of(np.eye(3)[bone])


def three_bones():
    joints = np.arange(4)[:, None] * np.eye(3)[0]
    return Skeleton.from_joints(joints[:3], [-1, 0, 1], tails=joints[1:], names="abc")


def bent(angle_b, angle_c):
    """(3, 3, 4) of the bones, rotated about Y at their heads."""
    bones = three_bones()
    turns = [[shapes.rotation([0, 1, 0], angle) for angle in (0, angle_b, angle_c)]]
    return araplbs.forward_kinematics(bones.heads, bones.tails, bones.parents, turns)[0]


@pytest.fixture
def problem():
    vertices, triangles, _rows = tube([1, 2])
    edges = np.zeros((0, 2), np.int32)
    mesh = Mesh("Tube", vertices, triangles, edges, np.eye(4))
    return Problem([mesh], three_bones(), Poses(np.zeros((0, 3, 3, 4)), None), False)


def test_each_joint_in_its_worst_pose(problem):
    """One pose bends the first joint, the next one the other."""
    poses = Poses(np.stack([bent(1.2, 0), bent(0, 1.2), bent(0.1, 0.1)]), None)
    rows = tube([1, 2])[2]
    seen = worst_poses(problem, None, rows, poses, UP)
    assert [(each.bone, each.pose) for each in seen] == [("b", 0), ("c", 1)]
    for each, place in zip(seen, (1, 2), strict=True):
        assert each.strain[0] is None and each.strain[1] > 0.1 and each.mesh == 0
        assert np.abs(problem.arguments["vertices"][each.vertices, 0] - place).max() < 0.8
        picture = each.pictures[1]
        assert each.pictures[0] is None and picture.shape == (SIDE, SIDE, 4)
        drawn = picture[picture[..., 3] > 0]
        assert len(drawn) > 0.1 * SIDE * SIDE
        red = drawn[:, 0].astype(int) - drawn[:, 2]
        assert (red > 40).any(), "stretched skin is not gray"


def test_before_and_now(problem):
    """The states before and now are named and drawn by the same camera."""
    poses = Poses(np.stack([bent(1.0, 0.6)]), None)
    rows, late = tube([1, 2])[2], tube([1.6, 2])[2]
    seen = worst_poses(problem, late, rows, poses, UP)
    first = next(each for each in seen if each.bone == "b")
    assert None not in first.strain and first.pictures[0].shape == first.pictures[1].shape
    assert (first.pictures[0] != first.pictures[1]).any()
    assert " % before, " in first.words() and first.words().startswith("b: ")
    same = worst_poses(problem, rows, rows, poses, UP)[0]
    assert same.strain[0] == same.strain[1]
    assert (same.pictures[0] == same.pictures[1]).all()


def test_nothing_to_see(problem):
    rows = tube([1, 2])[2]
    assert worst_poses(problem, None, rows, Poses(np.zeros((0, 3, 3, 4)), None), UP) == []
    still = Poses(np.stack([np.tile(np.eye(3, 4), (3, 1, 1))]), None)
    assert worst_poses(problem, None, rows, still, UP) == [], "no joint strains at rest"
    assert MOST == 4


def test_cancelled(problem):
    poses = Poses(np.stack([bent(1.2, 0)]), None)
    with pytest.raises(araplbs.Cancelled):
        worst_poses(problem, None, tube([1, 2])[2], poses, UP, progress=lambda *_at: False)
