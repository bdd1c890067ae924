"""Compares affine transforms of points and inverse transforms with NumPy."""

import numpy as np
import pytest

AT_ONCE = 16384  # that of the module


@pytest.fixture
def affine(core):
    found = core("base.affine")
    assert found.AT_ONCE == AT_ONCE
    return found


def matrices(count, seed=0):
    """Rotated, translated, stretched by up to a thousand; some are mirrored."""
    random = np.random.default_rng(seed)
    found = np.tile(np.eye(4), (count, 1, 1))
    turns = np.linalg.qr(random.normal(size=(count, 3, 3)))[0]
    found[:, :3, :3] = turns * 10 ** random.uniform(-3, 3, (count, 1, 3))
    found[:, :3, 3] = random.normal(size=(count, 3))
    return found


@pytest.mark.parametrize("count", [0, 1, AT_ONCE - 1, AT_ONCE, 2 * AT_ONCE + 3])
def test_moved(affine, count):
    points = np.random.default_rng(1).normal(size=(count, 3))
    for matrix in matrices(3):
        wanted = np.column_stack([points, np.ones(count)]) @ matrix.T
        for given in (matrix, matrix[:3]):
            found = affine.moved(points, given)
            assert found.shape == (count, 3)
            np.testing.assert_allclose(found, wanted[:, :3], rtol=1e-12, atol=1e-9)


def test_moved_is_exact_where_nothing_moves(affine):
    points = np.random.default_rng(2).normal(size=(AT_ONCE + 1, 3))
    assert (affine.moved(points, np.eye(4)) == points).all()


def test_inverse(affine):
    every = matrices(50)
    found = affine.inverse(every)
    assert (found[:, 3] == [0, 0, 0, 1]).all()
    np.testing.assert_allclose(found @ every, np.tile(np.eye(4), (50, 1, 1)), atol=1e-9)
    for matrix, each in zip(every, found, strict=True):
        assert (affine.inverse(matrix) == each).all()
        np.testing.assert_allclose(each, np.linalg.inv(matrix), rtol=1e-9, atol=1e-9)
    assert affine.inverse(every[:0]).shape == (0, 4, 4)
