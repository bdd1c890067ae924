"""Compares local and global steps with dense least squares, and the gradient with finite
differences."""

import araplbs
import numpy as np
import pytest
import reference
import scipy.sparse
import shapes

WIRES = [[3, 18], [7, 19], [11, 22], [12, 23], [23, 24]]


def make_problem(rng, name):
    """Mesh, wires, bones, poses and weights with a pattern, all tiny."""
    wires = None
    if name == "tube":
        mesh, bones = shapes.tube(5, 4), shapes.chain(3)
    elif name == "fan":
        mesh, bones = shapes.fan(3), shapes.chain(2)
    else:
        mesh, bones = (
            shapes.join(shapes.tube(5, 3), shapes.box((0.3,) * 3, (0.7, 0, 1))),
            shapes.tree(),
        )
        mesh, wires = (np.concatenate([mesh[0], [[0, 0.5, 2], [0, 0.6, 2.3]]]), mesh[1]), WIRES
    poses = araplbs.sample_poses(*bones, 4, seed=5, swing=1.0, twist=0.5, **bones.more)
    deforming = np.arange(len(bones)) if bones.deform is None else np.nonzero(bones.deform)[0]
    mask = np.zeros((len(mesh[0]), len(bones)), bool)
    mask[:, deforming] = rng.uniform(size=(len(mesh[0]), len(deforming))) < 0.7
    mask[~mask.any(1), deforming[0]] = True
    mask[2] = np.arange(len(bones)) == deforming[-1]  # a vertex without unknowns
    weights = shapes.random_weights(rng, *mask.shape) * mask
    weights /= weights.sum(1, keepdims=True)
    return mesh, wires, bones, poses, mask, weights


class Solved:
    """A bare solver on such a problem and the dense reference in the solver's coordinates."""

    def __init__(self, rng, name, **settings):
        mesh, wires, bones, poses, mask, weights = make_problem(rng, name)
        bare = {
            **reference.BARE,
            "poses": poses,
            "weights": shapes.rows(mask, weights),
            "edges": wires,
            "acceleration": 5,
        }
        self.solver = shapes.solver(mesh, bones, **{**bare, **settings})
        self.before = self.solver._inside
        self.deforming = np.arange(len(bones)) if bones.deform is None else bones.deform
        self.mask, self.weights = mask[:, self.deforming], weights[:, self.deforming]
        points, moved, self.diagonal = reference.normalize_to_solver(mesh[0], poses)
        self.points, self.poses = points, moved[:, self.deforming]
        self.area, self.a = reference.edge_weights(points, mesh[1], wires or [])
        self.size = reference.size(points, mesh[1])
        self.model = reference.Quadratic(points, self.a, self.weights, self.poses)
        self.triangles = mesh[1]
        self.laplacian = reference.laplacian(points, mesh[1])

    @property
    def flat(self):
        """Entries of the full (n m) arrays that the solver stores, in its order."""
        return np.nonzero(self.mask.ravel())[0]

    def differences(self, entries):
        """Differences of entries (full flat order) to the first of their vertex: the right-hand
        side is only determined up to a number per vertex, which the fixed sum of the weights
        eliminates."""
        full = np.zeros(self.mask.size)
        full[self.flat] = entries
        full = full.reshape(self.mask.shape)
        return full[self.mask] - np.repeat(
            full[range(len(full)), self.mask.argmax(1)], self.mask.sum(1)
        )

    def with_rows(self, rows):
        """The dense model of the global step, with these rows of squares added."""
        self.model.design = np.concatenate([self.model.design, rows])
        self.model.target = np.concatenate([self.model.target, np.zeros(len(rows))])
        return self.model

    def raw(self):
        return self.solver.raw_weights[:, self.deforming]


problems = pytest.mark.parametrize("name", ["tube", "fan", "wires"])


@problems
def test_coordinates_edges_and_gram_matrix(name, rng):
    s = Solved(rng, name)
    assert s.before["diagonal"] == pytest.approx(s.diagonal, rel=1e-14)
    np.testing.assert_allclose(s.before["points"], s.points, atol=1e-14)
    np.testing.assert_allclose(s.before["area"], s.area, rtol=1e-12)
    n = len(s.points)
    edges = scipy.sparse.csr_matrix(
        (s.before["edge_weight"], s.before["neighbor"], s.before["ring"]), shape=(n, n)
    )
    np.testing.assert_allclose(edges.toarray(), s.a, rtol=1e-12, atol=1e-16)
    np.testing.assert_allclose(s.before["transform"], s.poses, atol=1e-13)
    np.testing.assert_allclose(s.before["gram"], reference.gram(s.poses), atol=1e-12)


@problems
def test_energy_product_and_right_side(name, rng):
    s = Solved(rng, name)
    expected = reference.relative_energy(s.points, s.a, s.weights, s.poses)
    assert s.solver.energies[0] == pytest.approx(expected, rel=1e-12)
    product = (s.model.product_matrix @ s.weights.ravel())[s.flat]
    np.testing.assert_allclose(s.before["product"], product, atol=1e-13)
    np.testing.assert_allclose(
        s.differences(s.before["right_side"]), s.differences(s.model.right_side[s.flat]), atol=1e-12
    )


@problems
def test_matrix_of_the_system(name, rng):
    s = Solved(rng, name)
    s.solver.iterate(1)
    matrix, z = reference.matrix_of_the_step(s.solver._inside)
    assert len(matrix) == (s.mask.sum(1) - 1).sum()
    full = s.model.product_matrix[np.ix_(s.flat, s.flat)]
    np.testing.assert_allclose(matrix, z.T @ full @ z, atol=1e-13)


@problems
def test_global_step_is_the_dense_least_squares_solution(name, rng):
    s = Solved(rng, name)
    s.solver.iterate(1)
    expected = s.model.step(s.weights, s.mask)
    # Some weights hardly matter: compare where they do, and what they cost.
    change = (expected - s.raw()).ravel()
    assert np.linalg.norm(s.model.design @ change) < 1e-10
    np.testing.assert_allclose(s.raw(), expected, atol=1e-7)
    np.testing.assert_allclose(s.raw().sum(1), 1, atol=1e-13)
    assert not s.raw()[~s.mask].any()
    assert s.solver.energies[1] == pytest.approx(
        reference.relative_energy(s.points, s.a, expected, s.poses), rel=1e-9
    )


@problems
def test_iterations_repeat_both_steps(name, rng):
    s = Solved(rng, name, iterations=6, tolerance=0, acceleration=0)
    weights = s.weights
    for _ in range(6):
        model = reference.Quadratic(s.points, s.a, weights, s.poses)
        weights = model.step(weights, s.mask)
    s.solver.iterate(6)
    np.testing.assert_allclose(s.raw(), weights, atol=1e-6)
    assert (np.diff(s.solver.energies) <= 1e-15).all()


@problems
def test_gradient_with_rotations_fixed(name, rng):
    s = Solved(rng, name)
    gradient = s.differences(2 * (s.before["product"] - s.before["right_side"]))
    h, change = 1e-5, np.eye(s.weights.size)[s.flat]
    up, down = (
        np.array([s.model.energy(s.weights.ravel() + sign * h * c) for c in change])
        for sign in (1, -1)
    )
    np.testing.assert_allclose(gradient, s.differences((up - down) / (2 * h)), atol=1e-8)


@problems
def test_gradient_of_the_full_energy(name, rng):
    """The rotations are optimal, so the gradient is that with fixed rotations; compared with
    differences of `araplbs.energy` in directions that keep the sum of a row."""
    mesh, wires, bones, poses, _, _ = make_problem(rng, name)
    weights = np.zeros((len(mesh[0]), len(bones)))
    deforming = np.arange(len(bones)) if bones.deform is None else np.nonzero(bones.deform)[0]
    weights[:, deforming] = shapes.random_weights(rng, len(mesh[0]), len(deforming))
    more = {"edges": wires, "link_parts": False, "precision": "double"}
    solver = shapes.solver(
        mesh,
        bones,
        **more,
        **reference.PAPER_ENERGY,
        poses=poses,
        pose_count=0,
        weights=weights,
        start_from_weights=True,
    )
    inside = solver._inside
    gradient = 2 * (inside["product"] - inside["right_side"]).reshape(-1, len(deforming))
    points, _, _ = reference.normalize_to_solver(mesh[0], poses)
    _, a = reference.edge_weights(points, mesh[1], wires or [])
    unit = len(poses) * sum(
        a[i, k] * np.sum((points[k] - points[i]) ** 2) for i, k in reference.edges_of(a)
    )
    h, scale = 1e-5, np.abs(gradient).max() / unit
    for i in range(0, len(points), 3):
        b, c = rng.choice(len(deforming), 2, replace=False)
        up, down = weights.copy(), weights.copy()
        for w, step in ((up, h), (down, -h)):
            w[i, deforming[b]] += step
            w[i, deforming[c]] -= step
        difference = np.subtract(
            *(araplbs.energy(*mesh, w, poses, edges=wires) for w in (up, down))
        )
        assert (gradient[i, b] - gradient[i, c]) / unit == pytest.approx(
            difference / (2 * h), abs=2e-6 * scale
        )


def test_single_precision_is_enough(rng):
    mesh, bones = shapes.tube(16, 20), shapes.chain(4)
    single, double = (shapes.solver(mesh, bones, precision=p) for p in ("single", "double"))
    assert single.energies[0] == pytest.approx(double.energies[0], rel=1e-5)
    single.solve(), double.solve()
    np.testing.assert_allclose(single.energies, double.energies, rtol=1e-4)
    np.testing.assert_allclose(single.weights, double.weights, atol=1e-4)
