"""Compares the derivative of the energy by joints with finite differences, and tests the fixture
fx10 and invariants of a step."""

import araplbs
import numpy as np
import pytest
import reference
import shapes
from joint_rigs import ARM, BONES, FREE, PLANE, chained, moved, solver, two_trees
from shared_data import fixture


def test_derivatives_are_those_of_the_energy(rng):
    """B_J compared with differences of the energy for different joint positions, without any
    simplification."""
    bones, mesh = two_trees()
    weights = shapes.random_weights(rng, len(mesh[0]), 5)
    poses = araplbs.sample_poses(*bones, 4, seed=3)
    s = solver(
        bones, mesh, weights=weights, poses=poses, pose_count=0, link_parts=False,
        component_stiffness=1e6, optimize_weights=False, **reference.PAPER_ENERGY,
    )  # fmt: skip
    _, slope, unit, diagonal = s._inside
    _, a = reference.edge_weights(*mesh)
    up, segments = np.array([-1, 0, 0, -1, 3]), np.array([2, 1, 1, 1, 1])
    joint = s.report["joint_of_head"]

    def energy(heads):
        posed = chained(bones, poses, heads, up, segments)
        return reference.relative_energy(mesh[0], a, weights, posed)

    assert abs(energy(bones.heads) - s.report["energy_before"]) < 1e-12
    step = 1e-5 * diagonal
    for bone in (1, 2, 4):
        same = joint == joint[bone]
        for axis in range(3):
            there, back = bones.heads.copy(), bones.heads.copy()
            there[same, axis] += step
            back[same, axis] -= step
            slopes = (energy(there) - energy(back)) / (2 * step) * diagonal
            expected = -2 * slope[3 * joint[bone] + axis] / unit
            assert abs(slopes - expected) < 1e-5 * np.abs(slope / unit).max()


def test_component_displacements_lower_the_energy_exactly():
    """Without stiffness, two trees move apart as the quadratic predicts: B_J with the best
    component displacements is still the derivative, compared with differences of energies at these
    displacements."""
    bones, mesh = two_trees()
    weights = shapes.random_weights(np.random.default_rng(5), len(mesh[0]), 5)
    settings = {"weights": weights, "optimize_weights": False, "link_parts": False, **FREE}
    loose = solver(bones, mesh, **settings)
    tied = solver(bones, mesh, **settings, component_stiffness=1e6)
    loose.iterate(4)
    tied.iterate(4)
    assert loose.energy < tied.energy
    ends = loose.poses[:, 3, :, 3] - tied.poses[:, 3, :, 3]
    assert np.abs(ends).max() > 1e-3
    # bones of one tree still meet where their joints are
    for s in (loose, tied):
        for child, parent in ((1, 0), (2, 0), (4, 3)):
            point = np.append(s.heads[child], 1)
            np.testing.assert_allclose(
                s.poses[:, child] @ point, s.poses[:, parent] @ point, atol=1e-12
            )


def test_fixture():
    """fx10: the system, and ten of its steps."""
    d = fixture("fx10_joints")
    diagonal = np.linalg.norm(np.ptp(d["V"], axis=0))
    common = {
        "poses": d["T"], "pose_count": 0, "weights": d["W"], "optimize_weights": False,
        "link_parts": False, **FREE, "iterations": 1000, **reference.PAPER_ENERGY,
    }  # fmt: skip
    bones = d["bone_head"], d["bone_tail"], d["bone_parent"]
    stiff = d["epsC"][0] ** 2
    unit = araplbs.JointSolver(d["V"], d["F"], *bones, **common)._inside[2]
    common["component_stiffness"] = stiff / diagonal**2 / (unit / len(d["T"]))
    first = araplbs.JointSolver(d["V"], d["F"], *bones, **common)
    matrix = first._inside[0]
    ends = np.column_stack([first.report["joint_of_head"], first.report["joint_of_tail"]])
    own = np.diag(matrix).reshape(-1, 3).mean(1)
    own = np.sqrt(np.maximum(own, 1e-6 * own.max()))[ends]
    of_bone = np.linalg.norm(bones[1] - bones[0], axis=1)
    mean = [of_bone[(ends == joint).any(1)].mean() for joint in range(ends.max() + 1)]
    common |= {
        "joint_stiffness": d["eps1"][0] / diagonal / own,
        "tangential": d["eps2"][0] * np.array(mean)[ends] / diagonal / own,
    }
    s = araplbs.JointSolver(d["V"], d["F"], *bones, **common)
    matrix, right, unit, _ = s._inside
    theirs = np.zeros(len(d["joints"]), int)  # their joint of each of ours
    theirs[s.report["joint_of_head"]] = d["bone_joint_head"]
    theirs[s.report["joint_of_tail"]] = d["bone_joint_tail"]
    n = 3 * len(theirs)
    best = np.linalg.solve(d["A_J"][n:, n:] + stiff * np.eye(len(d["A_J"]) - n), d["A_J"][n:, :n])
    their_matrix = d["A_J"][:n, :n] - d["A_J"][:n, n:] @ best
    their_right = d["B_J"][:n] - best.T @ d["B_J"][n:]
    at = (3 * theirs[:, None] + np.arange(3)).ravel()
    np.testing.assert_allclose(matrix * diagonal**2, their_matrix[np.ix_(at, at)], atol=1e-9)
    np.testing.assert_allclose(right * diagonal**3, their_right[at], atol=1e-9)
    while s.report["joint_steps"] < 8:
        s.iterate()
    steps = s.report["joint_steps"]
    np.testing.assert_allclose(
        s.energies * unit * diagonal**4, d["E_after"][: steps + 1], rtol=1e-7
    )
    places = d["J_after"][steps - 1]
    np.testing.assert_allclose(s.heads, places[d["bone_joint_head"]], atol=1e-6)
    np.testing.assert_allclose(s.tails, places[d["bone_joint_tail"]], atol=1e-6)


@pytest.mark.parametrize("method", ["alternate", "together"])
def test_energy_never_rises_and_joints_stay_connected(method):
    bones = moved(moved(BONES, 1, [0.15, 0.05, 0.1]), 2, [-0.1, 0.1, 0])
    settings = {"tolerance": 1e-4, "iterations": 15}
    s = shapes.solved(solver(bones, method=method, **settings, **reference.PAPER_HELD))
    assert s.done
    assert len(s.energies) > 4
    assert (np.diff(s.energies) <= 0).all()
    assert s.energies[-1] < 0.9 * s.energies[0]
    np.testing.assert_array_equal(s.heads[1:], s.tails[:-1])
    np.testing.assert_allclose(s.weights.sum(1), 1)
    told = araplbs.energy(*ARM, s.weights, s.poses)
    assert abs(told - s.energy) < 0.02 * s.energy  # small weights are dropped
    report = s.report
    assert report["joints"] == 4
    assert report["components"] == 1
    assert report["energy_before"] == s.energies[0]


def test_both_methods_find_the_same_joints():
    bones = moved(BONES, 1, [0.1, 0.05, 0])
    one, other = (
        solver(bones, method=m, tolerance=1e-6, iterations=100) for m in ("alternate", "together")
    )
    one.solve()
    other.solve()
    assert abs(one.energy - other.energy) < 0.02 * one.energy
    np.testing.assert_allclose(one.heads[:, :2], other.heads[:, :2], atol=0.01)


def test_perturbed_joints_come_back():
    """Perturbed joints come back to the axis of the tube across the bones; along the bones, the
    mesh determines no position."""
    for bone_spring_stiffness in (5, 12, 20):
        for by in ([0.15, 0, 0], [-0.05, 0.12, 0]):
            bones = moved(moved(BONES, 1, by), 2, [0, -0.1, 0])
            s = shapes.solved(
                solver(
                    bones, pose_count=30, iterations=15, bone_spring_stiffness=bone_spring_stiffness
                )
            )
            before = np.linalg.norm(bones.heads[1:, :2], axis=1)
            after = np.linalg.norm(s.heads[1:, :2], axis=1)
            assert (after < 0.25 * before).all(), (before, after)


@pytest.mark.parametrize("kinds", [None, ["rigid", "spine", "stb"]])
def test_pinned_joints_do_not_move(kinds):
    bones = moved(moved(BONES, 1, [0.15, 0, 0]), 2, [0.1, 0, 0]).but(kinds=kinds)
    pinned = np.zeros((3, 2), bool)
    pinned[1, 1] = True  # the tail of bone 1, and so the head of bone 2
    s = shapes.solved(solver(bones, pinned=pinned, iterations=3))
    np.testing.assert_array_equal(s.heads[2], bones.heads[2])
    np.testing.assert_array_equal(s.tails[1], bones.tails[1])
    assert np.abs(s.heads[1] - bones.heads[1]).max() > 0.01
    assert s.report["pinned_joints"] == 1


def test_material_holds_single_joints_back():
    bones = moved(moved(BONES, 1, [0.15, 0, 0]), 2, [0.1, 0, 0])
    joint_stiffness = np.full((3, 2), 0.3)
    joint_stiffness[1, 0] = 100
    s = shapes.solved(solver(bones, joint_stiffness=joint_stiffness, iterations=2))
    assert np.abs(s.heads[1] - bones.heads[1]).max() < 1e-3
    assert np.abs(s.heads[2] - bones.heads[2]).max() > 0.01


def test_tangential_stiffness_keeps_joints_from_sliding():
    bones = moved(BONES, 1, [0, 0, 0.3])
    slides = []
    for tangential in (0.0, 100.0):
        s = shapes.solved(solver(bones, tangential=tangential, iterations=2))
        slides.append(abs(s.heads[1] - bones.heads[1]))
    assert slides[1][2] < 0.01 * slides[0][2]
    assert slides[1][:2].max() > 0.3 * slides[0][:2].max()


def test_reach_and_least_length_hold():
    bones = moved(moved(BONES, 1, [0.2, 0, 0.5]), 2, [0.2, 0, -0.3])
    free = shapes.solved(solver(bones, **FREE, iterations=10))
    lengths = np.linalg.norm(bones.tails - bones.heads, axis=1)
    near = shapes.solved(solver(bones, **{**FREE, "max_shift": 0.05}, iterations=10))
    far = np.linalg.norm(near.heads - bones.heads, axis=1)
    assert (far[1:] <= 0.05 * (lengths[1:] + lengths[:-1]) / 2 + 1e-12).all()
    assert (np.linalg.norm(free.heads - bones.heads, axis=1) > far + 0.01)[1:].any()
    whole = shapes.solved(solver(bones, **{**FREE, "min_length": 0.999}, iterations=10))
    after = np.linalg.norm(whole.tails - whole.heads, axis=1)
    assert (after >= 0.999 * lengths - 1e-9).all()


def test_anchor_keeps_joints_near():
    bones = moved(BONES, 1, [0.15, 0, 0])
    distances = []
    for anchor in (0.0, 0.5, 20.0):
        s = shapes.solved(solver(bones, anchor=anchor, iterations=5))
        assert (np.diff(s.energies) <= 0).all()
        distances.append(s.report["most_moved"])
    assert distances[0] > distances[1] > distances[2]


def two_blocks():
    """Figure 15C: rigid parts that no edge connects, and a joint that is not in their middle."""
    mesh = shapes.join(
        shapes.box((0.4, 0.4, 0.9), (0, 0, 0.5)), shapes.box((0.4, 0.4, 0.9), (0, 0, 1.5))
    )
    bones = moved(shapes.chain(2, 2.0), 1, [0.15, 0.05, 0])
    weights = np.zeros((16, 2))
    weights[:8, 0] = weights[8:, 1] = 1
    return mesh, bones, weights


def test_centering_where_no_stretch_is_seen():
    mesh, bones, weights = two_blocks()
    fixed = {"weights": weights, "optimize_weights": False, "link_parts": False}
    still = shapes.solved(solver(bones, mesh, **fixed))
    np.testing.assert_allclose(still.heads, bones.heads, atol=1e-9)
    s = shapes.solved(solver(bones, mesh, **fixed, centering=1.0, joint_stiffness=0.1))
    assert s.report["centered_joints"] == 1
    assert np.linalg.norm(s.heads[1, :2]) < 0.1 * np.linalg.norm(bones.heads[1, :2])
    assert (np.diff(s.energies) <= 0).all()


def test_centering_is_off_where_the_energy_decides():
    s, plain = (solver(moved(BONES, 1, [0.1, 0, 0]), centering=c, iterations=2) for c in (1e-4, 0))
    s.solve()
    plain.solve()
    assert s.report["centered_joints"] == 0
    np.testing.assert_array_equal(s.heads, plain.heads)


def symmetric_arms():
    """A tube along X with its bones mirrored at x = 0, and both joints off the axis."""
    vertices, triangles = shapes.tube(12, 25, 0.25, 4.0)
    vertices = vertices[:, [2, 0, 1]] - [2, 0, 0]
    heads = np.array([[0, 0, 0], [1.0, 0.1, 0.05], [0, 0, 0], [-1.0, 0.1, 0.05]])
    tails = np.array([[1.0, 0.1, 0.05], [2.0, 0, 0], [-1.0, 0.1, 0.05], [-2.0, 0, 0]])
    roll = np.tile([0.0, 0, 1], (4, 1))
    bones = shapes.Bones(heads, tails, np.array([-1, 0, -1, 2]), roll_axes=roll)
    return (vertices, triangles), bones


@pytest.mark.parametrize("kinds", [None, ["spine", "stb"] * 2])
def test_symmetry_is_kept_to_the_bit(kinds):
    mesh, bones = symmetric_arms()
    s = solver(bones.but(kinds=kinds), mesh, symmetry=([2, 3, 0, 1], *PLANE), iterations=4)
    s.solve()
    assert s.report["symmetric_joints"] == s.report["joints"] == 5
    flip = np.array([-1, 1, 1])
    np.testing.assert_array_equal(s.heads[:2] * flip, s.heads[2:])
    np.testing.assert_array_equal(s.tails[:2] * flip, s.tails[2:])
    assert np.abs(s.heads[1] - bones.heads[1]).max() > 0.01
    assert (np.diff(s.energies) <= 0).all()
    assert s.heads[0, 0] == 0


@pytest.mark.parametrize("method", ["alternate", "together"])
def test_a_bone_across_the_plane_has_ends_that_are_images(method):
    """A hip between two legs, which is its own partner: head and tail move symmetrically."""
    along_z, triangles = shapes.tube(8, 25, 0.2, 2.0)
    mesh = along_z[:, [2, 1, 0]] - [1, 0, 0], triangles
    heads = np.array([[-0.1, 0, 0], [0.1, 0, 0], [-0.1, 0, 0]])
    tails = np.array([[0.1, 0, 0], [1, 0, 0], [-1, 0, 0]])
    bones = shapes.Bones(heads, tails, np.array([-1, 0, 0]))
    s = shapes.solved(
        solver(bones, mesh, symmetry=([0, 2, 1], *PLANE), method=method, pose_count=11)
    )
    assert s.report["symmetric_joints"] == s.report["joints"] == 4
    assert s.report["most_moved"] > 1e-4
    flip = [-1, 1, 1]
    np.testing.assert_array_equal(s.heads[0], s.tails[0] * flip)
    np.testing.assert_array_equal(s.heads[1], s.heads[2] * flip)
    np.testing.assert_array_equal(s.tails[1], s.tails[2] * flip)
    np.testing.assert_array_equal(s.heads[0], s.heads[2])
