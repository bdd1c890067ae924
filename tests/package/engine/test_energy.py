"""Compares `araplbs.energy` with the sums in docs/energy.md 3."""

import araplbs
import numpy as np
import pytest
import reference
import shapes


def poses_of(bones, count=5, seed=1):
    return araplbs.sample_poses(*bones, count, seed=seed, swing=1.2, twist=0.6, **bones.more)


def brute(vertices, triangles, weights, poses, wires=()):
    _, a = reference.edge_weights(vertices, triangles, wires)
    weights, poses = reference.normalized(weights, poses)
    energy, unit = reference.vertex_energies(vertices, a, weights, poses)
    each = np.divide(energy, unit, out=np.zeros_like(energy), where=unit > 0)
    return energy.sum() / unit.sum(), each


MESHES = {
    "open tube": shapes.tube(6, 5),
    "closed tube": shapes.tube(5, 5, caps=True),
    "moebius": shapes.moebius(10, 3),
    "fan with non-manifold edges": shapes.fan(3),
    "soup": shapes.soup(8),
    "poles with many faces": shapes.sphere(3, 40),
    "two parts": shapes.join(shapes.tube(5, 4), shapes.sphere(3, 5, 0.2, (1, 0, 1))),
    "duplicate faces": (shapes.box()[0], np.concatenate([shapes.box()[1]] * 2)),
    "one triangle": (np.array([[0, 0, 0], [1, 0, 0], [0, 1, 1.0]]), np.array([[0, 1, 2]])),
}


@pytest.mark.parametrize("name", MESHES)
def test_any_mesh(name, rng):
    vertices, triangles = MESHES[name]
    bones = shapes.chain(3)
    poses = poses_of(bones)
    weights = shapes.random_weights(rng, len(vertices), 3, empty=0.4)
    energy, each = araplbs.energy(vertices, triangles, weights, poses, per_vertex=True)
    expected, expected_each = brute(vertices, triangles, weights, poses)
    assert energy == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(each, expected_each, rtol=1e-9, atol=1e-13)


def test_wire_edges(rng):
    """Wires between parts, on face vertices, with loose ends, given twice, and along a face
    edge."""
    vertices, triangles = shapes.join(shapes.tube(5, 4), shapes.box((0.2, 0.2, 0.2), (0.6, 0, 1)))
    vertices = np.concatenate([vertices, [[0.5, 0.5, 2.2], [0.7, 0.5, 2.4]]])
    n = len(vertices)
    wires = np.array([[3, 21], [7, 22], [21, 7], [16, n - 2], [n - 2, n - 1], [0, 1], [16, n - 2]])
    poses = poses_of(shapes.chain(2))
    weights = shapes.random_weights(rng, n, 2)
    energy, each = araplbs.energy(vertices, triangles, weights, poses, edges=wires, per_vertex=True)
    expected, expected_each = brute(vertices, triangles, weights, poses, wires)
    assert energy == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(each, expected_each, rtol=1e-9, atol=1e-13)
    without = araplbs.energy(vertices, triangles, weights, poses)
    assert abs(energy - without) > 1e-4


def test_wires_alone(rng):
    vertices = rng.uniform(-1, 1, (7, 3))
    wires = [[0, 1], [1, 2], [2, 3], [2, 4], [5, 6]]
    poses = poses_of(shapes.chain(2))
    weights = shapes.random_weights(rng, 7, 2)
    energy = araplbs.energy(vertices, np.zeros((0, 3), int), weights, poses, edges=wires)
    assert energy == pytest.approx(brute(vertices, [], weights, poses, wires)[0], rel=1e-12)


def test_rows_are_normalized_and_empty_ones_stay_at_rest(rng):
    vertices, triangles = shapes.tube(6, 5)
    poses = poses_of(shapes.chain(3))
    weights = shapes.random_weights(rng, len(vertices), 3) * rng.uniform(0.1, 9, (len(vertices), 1))
    weights[[0, 7, 8, 20]] = 0
    expected, _ = brute(vertices, triangles, weights, poses)
    assert araplbs.energy(vertices, triangles, weights, poses) == pytest.approx(expected, rel=1e-12)


def test_sparse_rows_in_any_order(rng):
    vertices, triangles = shapes.tube(6, 5)
    poses = poses_of(shapes.chain(4))
    weights = shapes.random_weights(rng, len(vertices), 4, empty=0.4)
    start, bones, values = shapes.rows(np.ones_like(weights, bool), weights)
    order = np.concatenate([i + rng.permutation(4) for i in start[:-1]])
    rows = start, bones[order], values[order]
    dense = araplbs.energy(vertices, triangles, weights, poses)
    assert araplbs.energy(vertices, triangles, rows, poses) == pytest.approx(dense, rel=1e-13)


def test_pose_matrices_may_have_four_rows_and_any_scale(rng):
    vertices, triangles = shapes.tube(6, 5)
    poses = rng.normal(size=(4, 3, 3, 4))
    weights = shapes.random_weights(rng, len(vertices), 3)
    square = np.zeros((4, 3, 4, 4))
    square[..., :3, :], square[..., 3, 3] = poses, 1
    expected, _ = brute(vertices, triangles, weights, poses)
    assert araplbs.energy(vertices, triangles, weights, poses) == pytest.approx(expected, rel=1e-12)
    assert araplbs.energy(vertices, triangles, weights, square) == pytest.approx(
        expected, rel=1e-12
    )


def test_traveling_poses_lose_no_accuracy(rng):
    """A translation of the whole pose changes no edge."""
    vertices, triangles = shapes.tube(6, 5)
    poses = poses_of(shapes.chain(3))
    weights = shapes.random_weights(rng, len(vertices), 3)
    near = araplbs.energy(vertices, triangles, weights, poses)
    far = poses.copy()
    far[..., 3] += rng.normal(size=(len(poses), 1, 3)) * 1e3
    assert araplbs.energy(vertices, triangles, weights, far) == pytest.approx(near, rel=1e-6)


def test_rest_and_rigid_poses_cost_nothing(rng):
    vertices, triangles = shapes.tube(6, 5)
    weights = shapes.random_weights(rng, len(vertices), 3)
    rigid = np.zeros((6, 3, 3, 4))
    rigid[..., :3] = shapes.random_rotations(rng, 6, 1)
    rigid[..., 3] = rng.normal(size=(6, 1, 3))
    assert abs(araplbs.energy(vertices, triangles, weights, rigid)) < 1e-14


def test_weld_joins_coincident_vertices_with_the_weights_of_the_first(rng):
    joined = shapes.tube(6, 5)
    vertices, triangles = shapes.split(*joined)
    poses = poses_of(shapes.chain(3))
    weights = shapes.random_weights(rng, len(vertices), 3)
    first = np.array([np.nonzero(joined[1].ravel() == v)[0][0] for v in range(len(joined[0]))])
    welded, each = araplbs.energy(vertices, triangles, weights, poses, per_vertex=True)
    expected, expected_each = brute(*joined, weights[first], poses)
    assert welded == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(each, expected_each[joined[1].ravel()], rtol=1e-9, atol=1e-13)
    apart = araplbs.energy(vertices, triangles, weights, poses, weld=False)
    assert apart == pytest.approx(brute(vertices, triangles, weights, poses)[0], rel=1e-12)
    assert apart != pytest.approx(welded, rel=1e-3)


def test_a_ring_that_collapses_or_turns_inside_out(rng):
    """The posed ring does not determine the rotation, but the energy must still be the lowest."""
    vertices, triangles = shapes.tube(6, 5)
    poses = np.zeros((4, 2, 3, 4))
    poses[0, :, :, :3] = np.diag([1, 1, 0])  # flattened
    poses[1, :, :, :3] = np.diag([0, 0, 1])  # a line
    poses[2, 0, :, :3] = np.eye(3)  # one bone to a point
    poses[3, :, :, :3] = -np.eye(3)  # inside out
    weights = shapes.random_weights(rng, len(vertices), 2)
    energy, each = araplbs.energy(vertices, triangles, weights, poses, per_vertex=True)
    expected, expected_each = brute(vertices, triangles, weights, poses)
    assert energy == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(each, expected_each, rtol=1e-9)
