"""Tests pictures of joints in their worst poses: the chosen joints, the pose, and the contents."""

import araplbs
import numpy as np
import pytest
from araplbs.character.mesh import Mesh
from araplbs.character.problem import Problem
from araplbs.model.sparse_weights import make_sparse_weights
from araplbs.reports.worst_poses import MOST, SIDE, joints_of, worst_poses
from araplbs.skeleton.poses import Poses
from araplbs.skeleton.skeleton import Skeleton
from test_body import UP, human


def skeleton_of(bones):
    heads, tails = np.array(bones.heads, float), np.array(bones.tails, float)
    m = len(bones.names)
    return Skeleton(
        list(bones.names),
        heads,
        tails,
        np.array(bones.parents, np.int32),
        np.tile([0.0, 0.0, 1.0], (m, 1)),
        np.ones(m, bool),
        np.full((m, 3, 2), np.nan),
        np.arange(m),
    )


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
    t, a = np.meshgrid(np.linspace(0, 3, n), np.linspace(0, 2 * np.pi, around, endpoint=False))
    vertices = np.stack([t, 0.3 * np.cos(a), 0.3 * np.sin(a)], axis=-1).reshape(-1, 3)
    k = np.arange(n * around).reshape(around, n)
    right, down = np.roll(k, -1, axis=0), k
    quads = np.stack([down[:, :-1], right[:, :-1], right[:, 1:], down[:, 1:]], -1).reshape(-1, 4)
    triangles = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]]).astype(np.int32)
    bone = np.digitize(vertices[:, 0], bend_at).astype(np.int32)
    rows = make_sparse_weights(len(vertices), np.arange(len(vertices)), bone, np.ones(len(bone)))
    return vertices, triangles, rows


def three_bones():
    heads = np.array([(0.0, 0, 0), (1, 0, 0), (2, 0, 0)])
    return Skeleton(
        ["a", "b", "c"],
        heads,
        heads + np.array([1, 0, 0]),
        np.array([-1, 0, 1], np.int32),
        np.tile([0.0, 0.0, 1.0], (3, 1)),
        np.ones(3, bool),
        np.full((3, 3, 2), np.nan),
        np.arange(3),
    )


def bent(angle_b, angle_c):
    """(3, 3, 4) of the bones, rotated about Y at their heads."""

    def turn(angle, place):
        c, s = np.cos(angle), np.sin(angle)
        rotation = np.array([(c, 0, s), (0, 1, 0), (-s, 0, c)])
        return np.column_stack([rotation, place - rotation @ place])

    one = turn(angle_b, np.array([1.0, 0, 0]))
    four = np.vstack([one, (0, 0, 0, 1)])
    two = (four @ np.vstack([turn(angle_c, np.array([2.0, 0, 0])), (0, 0, 0, 1)]))[:3]
    return np.stack([np.eye(3, 4), one, two])


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
