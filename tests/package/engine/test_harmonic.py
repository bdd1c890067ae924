"""Compares the harmonic term of the weights (paper Eq. 13) with its definition in dense NumPy:
delta sum_i c_i sum_b |(L w_b)_i|^2, c_i = constraint_strength #poses Lambda_i in the solver's
coordinates. (test_fixtures.py tests the paper's own iterations with this term.)"""

import araplbs
import numpy as np
import pytest
import reference
import shapes
from guarantees import check_weights
from test_steps import Solved, problems

DELTA = 0.01


def rows_of(s, delta=DELTA, strength=100.0):
    """(n m, n m): its squared product with the weights is the term."""
    scale = np.sqrt(delta * strength * len(s.poses) * s.area)
    return np.kron(scale[:, None] * s.laplacian, np.eye(s.weights.shape[1]))


@problems
def test_product_and_matrix(name, rng):
    s = Solved(rng, name, harmonic=DELTA)
    energy = reference.relative_energy(s.points, s.a, s.weights, s.poses)
    assert s.solver.energies[0] == pytest.approx(energy, rel=1e-12)
    full = s.with_rows(rows_of(s)).product_matrix
    scale = np.abs(full).max()
    expected = (full @ s.weights.ravel())[s.flat]
    np.testing.assert_allclose(s.before["product"], expected, atol=1e-12 * scale)
    s.solver.iterate(1)
    matrix, z = reference.matrix_of_the_step(s.solver._inside)
    reduced = z.T @ full[np.ix_(s.flat, s.flat)] @ z
    np.testing.assert_allclose(matrix, reduced, atol=1e-12 * scale)


@problems
def test_global_step_is_the_dense_minimum(name, rng):
    s = Solved(rng, name, harmonic=DELTA, constraint_strength=7.0)
    free = s.model.step(s.weights, s.mask)
    expected = s.with_rows(rows_of(s, strength=7.0)).step(s.weights, s.mask)
    s.solver.iterate(1)
    assert np.abs(expected - free).max() > 1e-2, "the term made no difference"
    np.testing.assert_allclose(s.raw(), expected, atol=1e-7)
    energy = reference.relative_energy(s.points, s.a, expected, s.poses)
    assert s.solver.energies[1] == pytest.approx(energy, rel=1e-7)  # of the term nothing


@pytest.mark.parametrize("acceleration", [0, 5])
def test_energy_and_term_fall_together(acceleration, rng):
    settings = {"iterations": 12, "tolerance": 0, "acceleration": acceleration}
    s = Solved(rng, "tube", harmonic=DELTA, **settings)
    rows, (_, unit) = rows_of(s), reference.vertex_energies(s.points, s.a, s.weights, s.poses)
    term, whole = [], []
    for _ in range(13):
        term.append(np.sum((rows @ s.raw().ravel()) ** 2) / unit.sum())
        whole.append(s.solver.energies[-1] + term[-1])
        s.solver.iterate(1)
    assert (np.diff(whole) <= 1e-12).all()
    assert term[-1] < 0.8 * term[0]


def character(**settings):
    """A character with coarse levels, expansion_rounds and a limit."""
    mesh, bones = shapes.tube(24, 80), shapes.chain(5)
    solver = shapes.solve(mesh, bones, **settings)
    return mesh, solver


FIXED = {"coarsen": 0, "expansion_rounds": 0, "max_influences": 0, "tolerance": 1e-4}


@pytest.mark.parametrize("settings", [{}, FIXED], ids=["all stages", "fixed maps"])
@pytest.mark.slow
def test_stronger_is_smoother_and_less_rigid(settings):
    """The weights are smoother and less rigid on equal influence patterns. Without this
    restriction, the term can lead to other patterns."""
    rough, energies = [], []
    for harmonic in (0.0, 0.01, 1.0):
        mesh, solver = character(harmonic=harmonic, **settings)
        assert bool(solver.report["coarse_vertices"]) == (not settings)
        weights = check_weights(solver, settings.get("max_influences", 4), len(mesh[0]))
        rough.append(np.linalg.norm(reference.laplacian(*mesh) @ weights))
        energies.append(solver.energy)
    assert rough[2] < 0.9 * rough[1] < 0.9 * 0.9 * rough[0]
    assert not settings or energies[0] < energies[1] < energies[2]


def test_without_it_nothing_changes():
    (_, plain), (_, zero) = character(), character(harmonic=0.0)
    np.testing.assert_array_equal(plain.raw_weights, zero.raw_weights)
    np.testing.assert_array_equal(plain.energies, zero.energies)
    assert plain.report["factor_size"] == zero.report["factor_size"]


def test_locked_weights_stay(rng):
    mesh, bones = shapes.tube(8, 20), shapes.chain(4)
    weights = shapes.random_weights(rng, len(mesh[0]), 4)
    locked = rng.uniform(size=len(mesh[0])) < 0.3
    solver = shapes.solve(mesh, bones, weights=weights, locked_vertices=locked, harmonic=1.0)
    np.testing.assert_array_equal(solver.weights[locked], weights[locked])


def test_slivers_and_collapsed_faces(rng):
    """Faces without area, and some with almost none."""
    (vertices, triangles), bones = shapes.tube(8, 20), shapes.chain(4)
    vertices = vertices.copy()
    vertices[40] = vertices[41] + 1e-5
    triangles = np.concatenate([triangles, [[60, 61, 60], [70, 71, 71]]])
    solver = shapes.solved(araplbs.Solver(vertices, triangles, *bones, **bones.more, harmonic=1.0))
    check_weights(solver, 4, len(vertices))
