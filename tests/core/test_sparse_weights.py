"""SparseWeights against plain loops."""

import numpy as np
import pytest


@pytest.mark.parametrize("count", [0, 1, 40])
def test_leaders(core, rng, count):
    """The bone of the largest weight, of equal ones the last; none of vertices without weights."""
    module = core("character.sparse_weights")
    dense = rng.integers(0, 4, (count, 5)) / 4
    rows = module.sparse_of(dense)
    vertices, bones = rows.leaders()
    expected = [v for v in range(count) if dense[v].any()]
    assert vertices.tolist() == expected
    assert bones.tolist() == [int(np.flatnonzero(dense[v] == dense[v].max())[-1]) for v in expected]
