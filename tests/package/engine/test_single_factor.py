"""The factor of the global step uses single precision, and double precision if single precision is
not sufficient."""

import araplbs
import numpy as np
import pytest
import shapes

MESH, BONES = shapes.tube(60, 120), shapes.chain(4)
SETTINGS = {"pose_count": 6, "expansion_rounds": 0, "iterations": 3, "coarsen": 0}


def both(**settings):
    """The solvers in single and in double precision."""
    solvers = [
        araplbs.Solver(*MESH, *BONES, **SETTINGS, **settings, precision=p)
        for p in ("single", "double")
    ]
    for solver in solvers:
        solver.solve()
    return solvers


def size_of_numbers(solver):
    return solver.report["factor_bytes"] / solver.report["factor_size"]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"damping": 1e-12},
        {"positivity": "penalty", "constraint_strength": 1e8, "neumann": True},
    ],
)
def test_weights_are_those_of_double(settings):
    single, double = both(**settings)
    assert size_of_numbers(single) == 4
    np.testing.assert_allclose(single.weights, double.weights, atol=5e-5)


def test_where_the_factor_is_in_double():
    for settings in ({"precision": "double"}, {"bone_spring_stiffness": 0}):
        assert size_of_numbers(shapes.solve(MESH, BONES, **SETTINGS, **settings)) == 8


@pytest.mark.parametrize(("strength", "size"), [(1e3, 4), (1e5, 4), (1e8, 8)])
def test_rows_that_single_precision_cannot_hold(strength, size):
    """Solves are refined more often, or the factor uses double precision. Damping does not
    change."""
    single, double = both(attach=True, pruning=(1, 0.95, 0.05), constraint_strength=strength)
    assert size_of_numbers(single) == size
    assert single.report["damping"] == double.report["damping"] == 1e-6
    one, other = np.asarray(single.weights), np.asarray(double.weights)
    # A weight at the limit of min_weight, 0.001, may be dropped by one alone, and its neighbors.
    dropped = ((one > 0) != (other > 0)).any(axis=1)
    assert dropped.mean() < 0.01
    np.testing.assert_allclose(one[~dropped], other[~dropped], atol=2e-4 if dropped.any() else 5e-5)
    np.testing.assert_allclose(one[dropped], other[dropped], atol=1.1e-3)
