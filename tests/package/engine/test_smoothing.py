"""Compares vertices at which the Laplacian of the weights should be zero (paper section 6) with
their rows in dense NumPy: s^2 0.01 c_i sum_b |(L w_b)_i / L_ii|^2, where c_i is that of
constraints."""

import araplbs
import numpy as np
import pytest
import reference
import shapes
import test_harmonic
from guarantees import check_weights
from test_steps import Solved, problems

PICKED, STRENGTHS = [1, 4, 7, 8, 4], [1.0, 0.5, 0.3, 0.0, 0.7]
# Springs of sections would pass a change on along the limb.
FIXED = {"coarsen": 0, "tolerance": 1e-5, "iterations": 100, "section": 0}


def rows_of(s, strength=100.0):
    """(n m, n m): its squared product with the weights is the term."""
    share = np.zeros(len(s.points))
    np.maximum.at(share, PICKED, STRENGTHS)
    own = np.diag(s.laplacian)
    scale = share * np.sqrt(0.01 * strength * len(s.poses) * s.area) / np.where(own > 0, own, 1)
    return np.kron(scale[:, None] * s.laplacian, np.eye(s.weights.shape[1]))


@problems
@pytest.mark.parametrize("later", [False, True])
def test_global_step_is_the_dense_minimum(name, later, rng):
    """Given at the creation or by an edit; of a vertex that is named twice, the larger strength
    applies."""
    s = Solved(rng, name, **({} if later else {"smoothed": (PICKED, STRENGTHS)}))
    if later:
        s.solver.edit(smoothed=(PICKED, STRENGTHS))
    free = s.model.step(s.weights, s.mask)
    expected = s.with_rows(rows_of(s)).step(s.weights, s.mask)
    s.solver.iterate(1)
    assert np.abs(expected - free).max() > 1e-3, "the rows made no difference"
    np.testing.assert_allclose(s.raw(), expected, atol=1e-7)


@problems
def test_the_harmonic_term_beside_it(name, rng):
    s = Solved(rng, name, harmonic=0.01, smoothed=(PICKED, STRENGTHS))
    s.with_rows(rows_of(s))
    expected = s.with_rows(test_harmonic.rows_of(s, 0.01)).step(s.weights, s.mask)
    s.solver.iterate(1)
    np.testing.assert_allclose(s.raw(), expected, atol=1e-7)


TUBE, CHAIN = shapes.tube(12, 41, 0.3, 2.0), shapes.chain(3)
PATCH = np.flatnonzero(
    (abs(TUBE[0][:, 2] - 0.7) < 0.13) & (TUBE[0][:, 0] > 0.05)
)  # next to the first joint


def solved(smoothed=None, **settings):
    solver = shapes.solve(TUBE, CHAIN, **{**FIXED, **settings})
    if smoothed is not None:
        solver.edit(smoothed=smoothed)
        solver.solve()
    return solver


def roughness(weights, vertices):
    laplacian = reference.laplacian(*TUBE)
    rows = (laplacian / np.diag(laplacian)[:, None])[vertices]
    return np.sqrt(np.mean((rows @ weights) ** 2))


def test_weights_are_smooth_there_and_hardly_change_elsewhere():
    free = solved()
    before = roughness(free.weights, PATCH)
    assert before > 1e-3
    last = before
    again = solved((PATCH, np.zeros(len(PATCH))))  # the same stages once more
    for strength, most in ((0.1, 0.95), (0.4, 0.6), (1, 0.3)):
        smooth = solved((PATCH, np.full(len(PATCH), strength)))
        now = roughness(smooth.weights, PATCH)
        assert now < most * before and now < last
        last = now
        change = np.abs(smooth.weights - again.weights)
        far = np.abs(TUBE[0][:, 2] - 0.7) > 0.5
        assert change[far].max() < 0.3 * change[PATCH].max()
        assert smooth.energy < 1.3 * free.energy
        check_weights(smooth, 4, len(TUBE[0]))


def test_without_it_again():
    """Without smoothing, the system and the weights are again those of one-rings."""
    none, empty = solved(), np.zeros(0)
    taken_back = solved((PATCH, np.ones(len(PATCH))))
    wide = taken_back.report["factor_size"]
    taken_back.edit()
    taken_back.solve()
    none.edit(smoothed=(empty.astype(int), empty))
    none.solve()
    assert roughness(taken_back.weights, PATCH) == pytest.approx(
        roughness(none.weights, PATCH), rel=0.1
    )
    assert taken_back.report["factor_size"] < wide
    np.testing.assert_allclose(taken_back.weights, none.weights, atol=0.1)


def test_no_vertex_is_as_if_there_were_no_such_edit():
    given, none = solved(smoothed=None), shapes.solver(TUBE, CHAIN, **FIXED)
    none.solve()
    np.testing.assert_array_equal(given.weights, none.weights)
    zero = shapes.solve(TUBE, CHAIN, **FIXED, smoothed=(PATCH, np.zeros(len(PATCH))))
    np.testing.assert_allclose(zero.weights, none.weights, atol=1e-6)


@pytest.mark.parametrize("begun", [0, 2])
def test_on_levels(begun):
    """Smoothing works from the coarse mesh on, and after a session has begun."""
    mesh, bones = shapes.tube(24, 81, 0.3, 2.0), shapes.chain(3)
    patch = np.flatnonzero((abs(mesh[0][:, 2] - 0.7) < 0.13) & (mesh[0][:, 0] > 0.05))
    laplacian = reference.laplacian(*mesh)
    rows = (laplacian / np.diag(laplacian)[:, None])[patch]
    rough = []
    for strength in (0, 1):
        solver = araplbs.Solver(*mesh, *bones, coarsen=300)
        assert solver.report["coarse_vertices"]
        solver.iterate(begun)
        solver.edit(smoothed=(patch, np.full(len(patch), strength)))
        solver.solve()
        rough.append(np.sqrt(np.mean((rows @ solver.weights) ** 2)))
    assert rough[1] < 0.5 * rough[0]


def test_both_sides_of_a_symmetric_character():
    """An edit of one side applies to the other, with bit-identical results."""
    bones = shapes.Bones(
        np.array([[0, 0, 0.0], [0.1, 0, 1], [-0.1, 0, 1]]),
        np.array([[0, 0, 1.0], [0.1, 0, 2], [-0.1, 0, 2]]),
        np.array([-1, 0, 0]),
    )
    symmetry = (np.array([0, 2, 1]), np.zeros(3), np.array([1.0, 0, 0]))
    patch = np.flatnonzero((TUBE[0][:, 0] > 0.1) & (abs(TUBE[0][:, 2] - 1) < 0.2))
    images = [
        int(np.linalg.norm(TUBE[0] - TUBE[0][v] * [-1, 1, 1], axis=1).argmin()) for v in patch
    ]
    runs = []
    for both in (False, True):
        vertices = np.concatenate([patch, images]) if both else patch
        solver = araplbs.Solver(
            *TUBE,
            *bones,
            symmetry=symmetry,
            smoothed=(vertices, np.ones(len(vertices))),
            coarsen=0,
        )
        solver.solve()
        runs.append(solver.weights)
    np.testing.assert_array_equal(*runs)
    np.testing.assert_array_equal(runs[0][patch][:, [0, 2, 1]], runs[0][images])


def test_welded_vertices_and_volumes():
    vertices, triangles = TUBE
    doubled = np.concatenate([vertices, vertices[PATCH]])
    solver = araplbs.Solver(
        doubled,
        triangles,
        *CHAIN,
        coarsen=0,
        smoothed=(len(vertices) + np.arange(3), [1.0] * 3),
    )
    solver.solve()
    bar, tets = shapes.bar()
    solver = shapes.solved(
        araplbs.Solver(bar, None, *CHAIN, tets=tets, smoothed=([20, 21], [1, 0.5]))
    )
    np.testing.assert_allclose(solver.weights.sum(1), 1)


def test_wrong_ones_are_refused():
    solver = solved()
    before = solver.weights
    for error, text, smoothed in (
        (ValueError, "smoothed 1 refers to vertex 492, but there are 492", ([0, 492], [1, 1])),
        (ValueError, "smoothed 0 refers to vertex -1, but there are 492", ([-1], [1])),
        (ValueError, r"smoothed 1 has strength 1.5: must be from 0 to 1", ([0, 1], [1, 1.5])),
        (ValueError, "smoothed 0 has strength -0.1", ([0], [-0.1])),
        (ValueError, "smoothed 0 has strength nan", ([0], [np.nan])),
        (ValueError, r"smoothed\[1\]", ([0, 1], [1])),
        (TypeError, "smoothed must be a tuple", [0, 1]),
        (TypeError, "smoothed must be a tuple", ([0], [0], [1])),
        (TypeError, "smoothed must be two arrays", ([0], None)),
    ):
        with pytest.raises(error, match=text):
            solver.edit(smoothed=smoothed)
        with pytest.raises(error, match=text):
            araplbs.Solver(*TUBE, *CHAIN, smoothed=smoothed)
    np.testing.assert_array_equal(solver.weights, before)
    assert solver.done
