"""Compares the Laplacian filter of the weights with its definition. (test_fixtures.py tests the
filter over many iterations.)"""

import numpy as np
import pytest
import reference
from test_steps import Solved


def filtered(s, weights, only_extrema):
    """Means of the neighbors, weighted by the edge weights of the energy, and then rows of sum
    1."""
    a, out = s.a, weights.copy()
    for i, b in zip(*np.nonzero(s.mask), strict=True):
        near = np.nonzero(a[i])[0]
        w, around, column = weights[i, b], weights[near, b], weights[s.mask[:, b], b]
        least = column.min() if s.mask[:, b].all() else min(column.min(), 0)
        spurious = (w > around).all() and w < max(column.max(), 0)
        spurious |= (w < around).all() and w > least
        if spurious or not only_extrema:
            out[i, b] = a[i, near] @ around / a[i].sum()
    return out / out.sum(1, keepdims=True)


@pytest.mark.parametrize("name", ["tube", "fan", "wires"])
@pytest.mark.parametrize("kind", ["all", "extrema"])
def test_one_iteration(name, kind, rng):
    s = Solved(rng, name, filter=kind)
    s.solver.iterate(1)
    step = s.model.step(s.weights, s.mask)
    expected = filtered(s, step, kind == "extrema")
    assert np.abs(expected - step).max() > 1e-3
    np.testing.assert_allclose(s.raw(), expected, atol=1e-6)
    energy = reference.relative_energy(s.points, s.a, expected, s.poses)
    assert s.solver.energies[1] == pytest.approx(energy, rel=1e-6)
