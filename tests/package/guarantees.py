"""Checks the guarantees for every result, with any input."""

import numpy as np
import shapes

LEAST = 0.001


def check_weights(solver, limit, count=None):
    """Checks that every vertex has at most `limit` weights, which are finite, >= 0 and not below
    0.001, with sum 1."""
    weights = solver.weights
    assert count is None or len(weights) == count
    assert np.isfinite(weights).all()
    assert weights.min() >= 0
    np.testing.assert_allclose(weights.sum(1), 1, atol=1e-6)
    assert (weights.max(1) > 0).all()
    used = weights[weights > 0]
    assert used.min() >= LEAST
    if limit:
        assert (weights > 0).sum(1).max() <= limit
    rows = solver.sparse_weights
    np.testing.assert_array_equal(shapes.dense(rows, weights.shape[1]), weights)
    assert (rows[2] > 0).all()
    return weights


def check_report(solver, vertices, bones):
    report = solver.report
    assert report["vertices"] == len(vertices)
    assert report["bones"] == len(bones)
    assert report["energy_after"] == solver.energies[-1]
    assert np.isfinite(solver.energies).all()
    assert solver.energy >= 0
    used = solver.weights.any(0)
    deforming = np.ones(len(bones), bool) if bones.deform is None else bones.deform
    assert report["idle_bones"] == np.nonzero(deforming & ~used)[0].tolist()
    assert not used[~deforming].any()
    assert all(s >= 0 for s in report["seconds"].values())
    return report
