"""Spokes: their terms of the energy beside explicit sums, where they are vertices of a fixed weight
and one-way neighbours, how they give way, and what they are for when edited, mirrored or coarser.
Which bones they go to: test_truss_bones.py."""

import araplbs
import numpy as np
import pytest
import reference
import scipy.sparse
import shapes
from test_bendy import Expanded
from test_steps import make_problem

SETTINGS = {**reference.BARE, "edge_power": 3, "truss": 20}
YIELD, WEAKEST = 0.3, 0.1  # csrc/truss.c


def owners(inside):
    """(spokes,) the vertex of each."""
    start = inside["spoke_start"]
    return np.repeat(np.arange(len(start) - 1), np.diff(start))


class Trussed:
    """A bare solver with spokes and the dense reference, which has them as further vertices."""

    def __init__(self, rng, name, **settings):
        mesh, wires, bones, poses, mask, weights = make_problem(rng, name)
        given = {"poses": poses, "weights": shapes.rows(mask, weights), "edges": wires}
        self.deforming = np.arange(len(bones)) if bones.deform is None else bones.deform
        settings = {**SETTINGS, **given, **settings}
        self.solver = araplbs.Solver(*mesh, *bones, **bones.more, **settings)
        self.inside = inside = self.solver._inside
        self.mask, weights = mask[:, self.deforming], weights[:, self.deforming]
        points, moved, _ = reference.normalise_to_solver(mesh[0], poses)
        _, a = reference.edge_weights(points, mesh[1], wires or [])
        a = reference.balanced(points, a, settings["edge_power"], inside["unit"])
        self.count, self.poses = len(points), moved[:, self.deforming]
        self.points, self.a, self.weights = reference.with_spokes(points, a, weights, inside)
        self.free = np.zeros(self.weights.shape, bool)
        self.free[: self.count] = self.mask
        self.flat = np.nonzero(self.mask.ravel())[0]
        self.model = self.quadratic(self.weights)

    def quadratic(self, weights):
        return reference.Quadratic(self.points, self.a, weights, self.poses)

    def differences(self, entries):
        """To the first of their vertex, see test_steps.py."""
        full = np.zeros(self.mask.size)
        full[self.flat] = entries
        full = full.reshape(self.mask.shape)
        first = full[range(len(full)), self.mask.argmax(1)]
        return full[self.mask] - np.repeat(first, self.mask.sum(1))

    def raw(self):
        return self.solver.raw_weights[:, self.deforming]


problems = pytest.mark.parametrize("name", ["tube", "fan", "wires"])


@problems
def test_energy_product_and_right_side(name, rng):
    s = Trussed(rng, name)
    assert len(s.inside["spoke_bone"]) > 0.5 * s.count
    expected = reference.relative_energy(s.points, s.a, s.weights, s.poses)
    assert s.solver.energies[0] == pytest.approx(expected, rel=1e-10)
    product = (s.model.product_matrix @ s.weights.ravel())[s.flat]
    np.testing.assert_allclose(s.inside["product"], product, atol=1e-10 * np.abs(product).max())
    right = s.differences(s.model.right_side[s.flat])
    np.testing.assert_allclose(
        s.differences(s.inside["right_side"]), right, atol=1e-9 * np.abs(right).max()
    )


@problems
def test_gradient_by_differences_of_the_full_energy(name, rng):
    s = Trussed(rng, name)
    gradient = s.differences(2 * (s.inside["product"] - s.inside["right_side"]))
    h, at = 1e-5, 0
    unit = reference.vertex_energies(s.points, s.a, s.weights, s.poses)[1].sum()
    for i in range(s.count):
        bones = np.nonzero(s.mask[i])[0]
        at += len(bones)
        if i % 4 or len(bones) < 2:
            continue
        slopes = []
        for sign in (1, -1):
            moved = s.weights.copy()
            moved[i, bones[-1]] += sign * h
            moved[i, bones[0]] -= sign * h
            slopes.append(reference.relative_energy(s.points, s.a, moved, s.poses) * unit)
        difference = (slopes[0] - slopes[1]) / (2 * h)
        assert gradient[at - 1] == pytest.approx(difference, abs=1e-5 * np.abs(gradient).max())


@problems
def test_matrix_and_global_step(name, rng):
    s = Trussed(rng, name)
    s.solver.iterate(1)
    inside = s.solver._inside
    unknowns, entry = len(inside["entry"]), inside["entry"]
    lower = scipy.sparse.csc_matrix(
        (inside["value"], inside["row"], inside["column"]), shape=(unknowns, unknowns)
    ).toarray()
    z = np.zeros((len(s.flat), unknowns))
    vertex = np.repeat(np.arange(s.count), np.diff(inside["start"]))
    z[entry, np.arange(unknowns)] = 1
    z[inside["start"][vertex[entry]], np.arange(unknowns)] -= 1
    full = z.T @ s.model.product_matrix[np.ix_(s.flat, s.flat)] @ z
    np.testing.assert_allclose(
        lower + np.tril(lower, -1).T, full, atol=1e-10 * np.abs(full).max()
    )
    expected = s.model.step(s.weights, s.free)
    change = np.zeros(s.weights.shape)
    change[: s.count] = expected[: s.count] - s.raw()
    scale = np.linalg.norm(s.model.target)
    assert np.linalg.norm(s.model.design @ change.ravel()) < 1e-8 * scale
    np.testing.assert_allclose(s.raw(), expected[: s.count], atol=1e-6)
    assert s.solver.energies[1] == pytest.approx(
        reference.relative_energy(s.points, s.a, expected, s.poses), rel=1e-8
    )


@problems
def test_iterations_repeat_both_steps(name, rng):
    s = Trussed(rng, name, iterations=5, tolerance=0)
    weights = s.weights
    for _ in range(5):
        weights = s.quadratic(weights).step(weights, s.free)
    s.solver.iterate(5)
    np.testing.assert_allclose(s.raw(), weights[: s.count], atol=1e-5)
    assert (np.diff(s.solver.energies) <= 1e-12).all()


def test_no_spokes_without_strength(rng):
    assert "spoke_start" not in Trussed.__init__.__globals__["araplbs"].Solver(
        *shapes.tube(6, 5), *shapes.chain(2), truss=0, pose_count=2
    )._inside
    weak, strong = (Trussed(np.random.default_rng(1), "tube", truss=t) for t in (1, 7))
    np.testing.assert_allclose(
        strong.inside["spoke_weight"], 7 * weak.inside["spoke_weight"], rtol=1e-12
    )
