"""Tests joints that contradict the current weights: which joints they are, where they move, and
what moves with them."""

import numpy as np
import pytest
from araplbs.character.mesh import Mesh
from araplbs.character.problem import Problem
from araplbs.features.joints.joints import JointRun, joint_report
from araplbs.features.joints.misplaced import better_start, carried
from araplbs.features.joints.moved_joints import only_heads_of
from araplbs.features.joints.options import JointOptions
from araplbs.model.sparse_weights import make_sparse_weights, sparse_of
from araplbs.skeleton.poses import Poses
from test_worst_poses import bent, three_bones, tube

FREE = np.zeros((3, 2), bool)


def soft(vertices, joints=(1, 2), width=0.25):
    """Weights of three bones along X that change smoothly around these joints."""
    first, second = (np.clip((vertices[:, 0] - joint) / width / 2 + 0.5, 0, 1) for joint in joints)
    dense = np.stack([1 - first, first * (1 - second), first * second], axis=1)
    return sparse_of(dense)


def with_joint_at(x):
    """The three bones, with the second joint at this position."""
    skeleton = three_bones()
    skeleton.heads[2, 0] = skeleton.tails[1, 0] = x
    return skeleton


def test_good_joints_stay():
    vertices = tube([1, 2])[0]
    assert better_start(three_bones(), vertices, soft(vertices), FREE, 0.5) is None


@pytest.mark.parametrize("x", [1.65, 2.35])
def test_a_wrong_joint_goes_to_where_the_weights_bend(x):
    """A joint that is wrong on either side moves there. Only coincident ends move with it."""
    vertices = tube([1, 2], n=60)[0]
    skeleton = with_joint_at(x)
    start = better_start(skeleton, vertices, soft(vertices), FREE, 0.5)
    assert start.bones == [2]
    np.testing.assert_allclose(start.skeleton.heads[2], [2, 0, 0], atol=0.02)
    np.testing.assert_allclose(start.skeleton.tails[1], start.skeleton.heads[2])
    np.testing.assert_allclose(start.skeleton.heads[:2], skeleton.heads[:2])
    np.testing.assert_allclose(start.skeleton.tails[2], skeleton.tails[2])


@pytest.mark.parametrize("x", [1.7, 2.3])
def test_a_head_that_has_left_its_parents_end(x):
    """The bone is not connected. The weights bend where the parent ends, so the head moves
    there."""
    vertices = tube([1, 2], n=60)[0]
    skeleton = three_bones()
    skeleton.heads[2, 0] = x
    start = better_start(skeleton, vertices, soft(vertices), FREE, 0.5)
    assert start.bones == [2]
    np.testing.assert_allclose(start.skeleton.heads[2], [2, 0, 0], atol=0.02)
    np.testing.assert_allclose(start.skeleton.tails, skeleton.tails)
    skeleton.tails[1, 0] = 1.5
    assert better_start(skeleton, vertices, soft(vertices), FREE, 0.5) is None, "it is drawn so"


def test_a_flap_is_no_ring():
    """A jaw rotates about a hinge that its ring does not surround, so its joint stays. The joint of
    a bone that does not begin at its parent's end also stays."""
    vertices = tube([1, 2], n=60)[0]
    skeleton, rows = with_joint_at(1.5), soft(vertices)
    assert better_start(skeleton, vertices, rows, FREE, 0.5)
    aside = vertices + np.array([0, 0, 0.6])
    assert better_start(skeleton, aside, rows, FREE, 0.5) is None
    skeleton.tails[1, 2] = 0.2
    assert better_start(skeleton, vertices, rows, FREE, 0.5) is None


def test_limits():
    """Pinned ends stay, a joint moves no farther than Max Shift, and small weights are no
    evidence."""
    vertices = tube([1, 2], n=60)[0]
    skeleton, rows = with_joint_at(1.5), soft(vertices)
    pinned = FREE.copy()
    pinned[1, 1] = True
    assert better_start(skeleton, vertices, rows, pinned, 0.5) is None
    start = better_start(skeleton, vertices, rows, FREE, 0.1)
    mean = (0.5 + 1.5) / 2
    assert start.skeleton.heads[2, 0] == pytest.approx(1.5 + 0.1 * mean)
    few = vertices[:, 0] > 1.9
    at = few[rows.vertices]
    some = make_sparse_weights(rows.count, rows.vertices[at], rows.bones[at], rows.weights[at])
    assert better_start(skeleton, vertices, some, FREE, 0.5) is None


def test_poses_turn_about_the_new_joints():
    """Every bone rotates as before, and is connected to its parent at its joint."""
    before, after = with_joint_at(1.6), three_bones()
    after.tails[0], after.heads[1] = (1.1, 0.1, 0), (1.1, 0.1, 0)
    poses = np.stack([bent(0.9, -0.4), bent(-0.3, 1.1)])
    found = carried(poses, before, after)
    np.testing.assert_allclose(found[..., :3], poses[..., :3])
    np.testing.assert_allclose(found[:, 0], poses[:, 0])
    given = carried(found, after, before)
    np.testing.assert_allclose(given, poses, atol=1e-12)
    for bone, parent in ((1, 0), (2, 1)):
        joint = np.append(before.heads[bone], 1)
        apart = (poses[:, bone] - poses[:, parent]) @ joint
        joint = np.append(after.heads[bone], 1)
        np.testing.assert_allclose((found[:, bone] - found[:, parent]) @ joint, apart, atol=1e-12)


def run_of(skeleton, vertices, triangles, rows, locks=FREE, **options):
    mesh = Mesh("Tube", vertices, triangles, np.zeros((0, 2), np.int32), np.eye(4), weights=rows)
    options = JointOptions(pose_count=12, iterations=4, joint_iterations=4, **options)
    problem = Problem([mesh], skeleton, None, False, options.start_from)
    return JointRun(problem, [mesh], options, locks, np.ones(3), 1)


@pytest.mark.parametrize("weighted", [True, False])
def test_the_wrong_joint_moves_most(weighted):
    """The wrong joint moves most if there are weights; without weights, nothing reveals it."""
    vertices, triangles, _rows = tube([1, 2], n=40)
    skeleton = with_joint_at(1.6)
    run = run_of(skeleton, vertices, triangles, soft(vertices) if weighted else None)
    assert bool(run.start) == weighted
    solution = run.solve()
    far = np.linalg.norm(solution.skeleton.heads - skeleton.heads, axis=1)
    if weighted:
        assert far.argmax() == 2 and abs(solution.skeleton.heads[2, 0] - 2) < 0.15
        assert solution.report["largest_move"] > 0.08
    report = joint_report(run, solution, "Rig")
    assert report["misplaced_joints"] == (["c"] if weighted else [])
    strains = run.frame.strains
    assert len(strains) == 2 and all(0 < strain < 2 for strain in strains)


def test_only_the_chosen_joint_moves():
    vertices, triangles, _rows = tube([1, 2], n=40)
    skeleton = with_joint_at(1.6)
    free = only_heads_of(skeleton, np.array([False, False, True]))
    assert free.tolist() == [[False, False], [False, True], [True, False]]
    run = run_of(skeleton, vertices, triangles, soft(vertices), ~free)
    solution = run.solve()
    moved = solution.skeleton.heads - skeleton.heads
    assert not moved[:2].any() and moved[2, 0] > 0.2
    np.testing.assert_allclose(solution.skeleton.tails[2], skeleton.tails[2])


def test_given_poses_go_along():
    """Given poses, as of an animation, are changed so that the bones rotate about the joints where
    the search begins."""
    vertices, triangles, _rows = tube([1, 2], n=40)
    skeleton = with_joint_at(1.6)
    mesh_rows = soft(vertices)
    mesh = Mesh("T", vertices, triangles, np.zeros((0, 2), np.int32), np.eye(4), weights=mesh_rows)
    options = JointOptions(pose_count=4, joint_iterations=2)
    poses = Poses(np.stack([bent(0.5, 0.5), bent(-0.4, 0.8)]), None)
    problem = Problem([mesh], skeleton, poses, False, options.start_from)
    run = JointRun(problem, [mesh], options, FREE, np.ones(3), 1)
    assert run.start
    joint = run.solve().skeleton.heads[2]
    assert abs(joint[0] - 2) < 0.2
