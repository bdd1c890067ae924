"""The likeness of weights is compared with results computed by hand and with dense arrays."""

import numpy as np
import pytest
from araplbs.features.compare.methods import as_sparse
from araplbs.measures.likeness import cut, likeness
from araplbs.model.sparse_weights import dense_of


def test_cut_by_hand():
    rows = as_sparse(
        np.array(
            [
                (0.6, 0.3, 0.1, 0),  # below 0.35 x 0.6: the last one goes
                (0.5, 0.175, 0.325, 0),  # just 0.35 of the largest stays
                (0.0009, 0, 0, 0),  # nothing is left
                (0, 0, 1, 0.0009),
            ]
        )
    )
    expected = [(2 / 3, 1 / 3, 0, 0), (0.5, 0.175, 0.325, 0), (0, 0, 0, 0), (0, 0, 1, 0)]
    np.testing.assert_allclose(dense_of(cut(rows), 4), expected, atol=1e-12)


def test_likeness_by_hand():
    reference = as_sparse(np.array([(1, 0, 0), (0.5, 0.5, 0), (0.4, 0.4, 0), (0, 0, 1.005)]))
    rows = as_sparse(np.array([(1, 0, 0), (1, 0, 0), (0, 0, 1), (0, 0.5, 0.5)]))
    # The third row of the reference does not sum to 1. Left: 0, |1 - .5| + .5, and .5 + |.5 - 1|.
    found = likeness(rows, reference)
    assert found["vertices"] == 3
    assert found["l1"] == pytest.approx((0 + 1 + 1) / 3)
    assert found["precision"] == pytest.approx(3 / 4)  # of 1 + 1 + 2 influences
    assert found["recall"] == pytest.approx(3 / 4)  # of 1 + 2 + 1


def test_the_reference_keeps_what_is_small():
    reference = as_sparse(np.array([(0.9, 0.1), (0.9995, 0.0005)]))
    rows = as_sparse(np.array([(1.0, 0), (1.0, 0)]))
    expected = {"l1": 0.1, "precision": 1, "recall": 2 / 3, "vertices": 2}
    assert likeness(rows, reference) == pytest.approx(expected)
    assert likeness(reference, reference) == pytest.approx(expected)


def test_nothing_in_common():
    rows, reference = as_sparse(np.array([(1.0, 0)])), as_sparse(np.array([(0, 1.0)]))
    assert likeness(rows, reference) == {"l1": 2, "precision": 0, "recall": 0, "vertices": 1}
    nothing = as_sparse(np.zeros((1, 2)))
    assert likeness(nothing, reference) == {"l1": 1, "precision": 0, "recall": 0, "vertices": 1}


def test_nothing_to_compare_with():
    rows = as_sparse(np.array([(1.0, 0)]))
    assert likeness(rows, as_sparse(np.array([(0.5, 0.4)]))) is None


def by_arrays(weights, reference):
    def kept(values, share):
        values = np.where(values < 1e-3, 0, values)
        values = np.where(values < share * values.max(1, keepdims=True), 0, values)
        sums = values.sum(1, keepdims=True)
        return values / np.where(sums > 0, sums, 1)

    counts = np.abs(reference.sum(1) - 1) <= 1e-2
    one, other = kept(weights, 0.35)[counts], kept(reference, 0)[counts]
    both = ((one > 0) & (other > 0)).sum()
    return (
        np.abs(one - other).sum() / counts.sum(),
        both / (one > 0).sum(),
        both / (other > 0).sum(),
    )


@pytest.mark.parametrize("seed", range(3))
def test_against_arrays(seed):
    rng = np.random.default_rng(seed)
    weights, reference = rng.dirichlet(np.full(8, 0.4), (2, 300))
    reference[::7] *= 0.9
    found = likeness(as_sparse(weights), as_sparse(reference))
    expected = by_arrays(weights, reference)
    assert (found["l1"], found["precision"], found["recall"]) == pytest.approx(expected)
