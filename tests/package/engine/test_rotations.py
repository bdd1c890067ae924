"""The rotation nearest to a matrix of any rank and sign."""

import araplbs
import numpy as np
import pytest
import reference
import shapes

EYE = np.eye(3)


def check(matrices, tolerance=1e-13):
    """Checks for proper rotations, of which none is better, by the singular values of each
    matrix."""
    rotations = araplbs.nearest_rotations(matrices)
    assert np.isfinite(rotations).all()
    np.testing.assert_allclose(
        rotations @ np.swapaxes(rotations, 1, 2), np.broadcast_to(EYE, rotations.shape), atol=1e-14
    )
    np.testing.assert_allclose(np.linalg.det(rotations), 1, atol=1e-14)
    scale = np.abs(matrices).max((1, 2))
    scale[scale == 0] = 1
    unit = matrices / scale[:, None, None]
    reached = np.einsum("nij,nij->n", rotations, unit)
    u, s, vt = np.linalg.svd(unit)
    best = s[:, 0] + s[:, 1] + s[:, 2] * np.sign(np.linalg.det(u @ vt))
    np.testing.assert_allclose(reached, best, atol=tolerance)
    return rotations


@pytest.mark.parametrize("rank", [0, 1, 2, 3])
@pytest.mark.parametrize("noise", [0, 1e-16, 1e-12, 1e-6])
def test_any_rank(rank, noise, rng):
    matrices = rng.normal(size=(200, 3, rank)) @ rng.normal(size=(200, rank, 3))
    check(matrices + noise * rng.normal(size=(200, 3, 3)))


def test_many_are_those_of_each_alone(rng):
    """Bit-identical, with any neighbors of a matrix: some end early, and some are unreliable."""
    matrices = rng.normal(size=(43, 3, 3)) * 10.0 ** rng.integers(-200, 200, (43, 1, 1))
    matrices[::5] = rng.normal(size=(9, 3, 1)) * rng.normal(size=(9, 1, 3))
    matrices[3::7] = 0
    alone = [araplbs.nearest_rotations(m[None])[0] for m in matrices]
    for first in range(4):
        np.testing.assert_array_equal(araplbs.nearest_rotations(matrices[first:]), alone[first:])


def test_well_determined_ones_are_those_of_the_svd(rng):
    matrices = rng.normal(size=(200, 3, 3))
    expected = [reference.rotation_of(m) for m in matrices]
    gap = np.linalg.svd(matrices, compute_uv=False) @ [0, 1, -1]
    clear = gap > 0.01
    np.testing.assert_allclose(check(matrices)[clear], np.array(expected)[clear], atol=1e-11)


def test_rotations_are_their_own_nearest(rng):
    rotations = shapes.random_rotations(rng, 100)
    np.testing.assert_allclose(araplbs.nearest_rotations(rotations), rotations, atol=1e-14)


def test_reflections_and_ties(rng):
    """If several rotations are equally near, any of them is correct."""
    turn = shapes.random_rotations(rng, 50)
    check(-turn)
    check(turn * np.array([1, 1, -1]))
    check(turn @ np.diag([3, 1, -1.0]))
    check(turn @ np.diag([2, 2, 0.0]))
    check(
        np.array(
            [np.diag(d) for d in np.array([[1, 1, 1], [1, 1, -1], [1, -1, -1], [-1, -1, -1.0]])]
        )
    )


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1e30, 1e300])
def test_scale_does_not_matter(scale, rng):
    matrices = rng.normal(size=(50, 3, 3))
    np.testing.assert_allclose(
        araplbs.nearest_rotations(matrices * scale), araplbs.nearest_rotations(matrices), atol=1e-12
    )


def test_nothing_gives_the_identity():
    np.testing.assert_array_equal(araplbs.nearest_rotations(np.zeros((2, 3, 3))), [EYE, EYE])
    assert araplbs.nearest_rotations(np.zeros((0, 3, 3))).shape == (0, 3, 3)
