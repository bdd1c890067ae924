"""SparseWeights are compared with plain loops."""

import numpy as np
import pytest
import shapes


@pytest.mark.parametrize("count", [0, 1, 40])
def test_leaders(core, rng, count):
    """The bone with the largest weight, the last one of equal weights, and none for vertices
    without weights."""
    module = core("model.sparse_weights")
    dense = rng.integers(0, 4, (count, 5)) / 4
    rows = module.sparse_of(dense)
    vertices, bones = rows.leaders()
    expected = [v for v in range(count) if dense[v].any()]
    assert vertices.tolist() == expected
    assert bones.tolist() == [int(np.flatnonzero(dense[v] == dense[v].max())[-1]) for v in expected]


def test_rows_of_welded_vertices_are_those_of_others():
    """Rows of welded or locked vertices are returned one by one, and others unchanged."""
    (vertices, triangles), bones = shapes.tube(24, 30), shapes.chain(3)
    settings = {"pose_count": 6, "seed": 3}
    plain = shapes.solve((vertices, triangles), bones, **settings)
    twice = shapes.solve((np.concatenate([vertices, vertices[:1]]), triangles), bones, **settings)
    np.testing.assert_array_equal(twice.weights[:-1], plain.weights)
    np.testing.assert_array_equal(twice.weights[-1], plain.weights[0])
