"""Embeds points in tets: each point gets the tet that contains it, or the nearest point of the
nearest tet."""

import araplbs
import numpy as np
import pytest
import scipy.optimize
import shapes
from refusals import refuse

VERTICES, TETS = shapes.bar((2, 2, 4))
VERTICES = VERTICES + np.random.default_rng(2).uniform(-0.02, 0.02, VERTICES.shape)


def points_of(tets, coordinates, vertices=VERTICES, all_tets=TETS):
    return np.einsum("pk,pkc->pc", coordinates, vertices[all_tets[tets]])


def test_points_inside():
    """Linear functions, and therefore the points themselves, are reproduced."""
    rng = np.random.default_rng(4)
    coordinates = rng.dirichlet(np.ones(4), 300)
    given = rng.integers(0, len(TETS), 300)
    points = points_of(given, coordinates)
    tets, found, distances = araplbs.embed(VERTICES, TETS, points)
    np.testing.assert_array_equal(tets, given)
    np.testing.assert_allclose(found, coordinates, atol=1e-9)
    np.testing.assert_array_equal(distances, 0)
    assert tets.dtype == np.int32


def test_vertices_of_tets_are_found_as_such():
    tets, coordinates, distances = araplbs.embed(VERTICES, TETS, VERTICES)
    np.testing.assert_allclose(points_of(tets, coordinates), VERTICES, atol=1e-12)
    corner = coordinates.argmax(1)
    assert (TETS[tets, corner] == np.arange(len(VERTICES))).all()
    assert distances.max() < 1e-12


def nearest_by_hand(corners, point):
    """The point of a tet nearest to another point, as a quadratic program."""
    target = np.concatenate([point, [1e4]])
    matrix = np.vstack([corners.T, np.full(4, 1e4)])
    coordinates, _ = scipy.optimize.nnls(matrix, target)
    return np.linalg.norm(coordinates / coordinates.sum() @ corners - point)


def test_points_outside():
    """Coordinates are never negative, and no other tet is nearer."""
    rng = np.random.default_rng(5)
    points = rng.uniform(-1, 3, (40, 3))
    tets, coordinates, distances = araplbs.embed(VERTICES, TETS, points)
    assert (coordinates >= 0).all()
    np.testing.assert_allclose(coordinates.sum(1), 1, atol=1e-12)
    off = np.linalg.norm(points_of(tets, coordinates) - points, axis=1)
    np.testing.assert_allclose(distances, off, atol=1e-9)
    for point, distance in zip(points, distances, strict=True):
        best = min(nearest_by_hand(VERTICES[t], point) for t in TETS)
        assert distance == pytest.approx(best, abs=1e-5)


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [1, 0, 2, 3]])
def test_either_order_of_corners(order):
    points = points_of(np.arange(10), np.full((10, 4), 0.25))
    tets, coordinates, _ = araplbs.embed(VERTICES, TETS[:, order], points)
    np.testing.assert_array_equal(tets, np.arange(10))
    np.testing.assert_allclose(coordinates, 0.25, atol=1e-9)


def test_flat_tets_are_their_faces():
    """A square in a plane, and four corners at one point."""
    square = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    tets, coordinates, distances = araplbs.embed(square, [[0, 1, 2, 3]], [[0.25, 0.5, 1.0]])
    np.testing.assert_allclose(coordinates[0] @ square, [0.25, 0.5, 0], atol=1e-12)
    assert distances[0] == pytest.approx(1)
    _, coordinates, distances = araplbs.embed(np.zeros((4, 3)), [[0, 1, 2, 3]], [[0, 3.0, 4]])
    assert coordinates.sum() == pytest.approx(1)
    assert distances[0] == pytest.approx(5)
    assert tets[0] == 0


def test_tets_flat_but_for_rounding_claim_nothing():
    """Meshing software leaves such tets on flat sides. They are four corners of a square, in any
    rotation, with a volume of either sign."""
    rng = np.random.default_rng(0)
    vertices, tets = shapes.bar((3, 3, 8))
    grid = np.arange(len(vertices)).reshape(4, 4, 9)[0]
    squares = np.stack([grid[:-1, :-1], grid[1:, :-1], grid[:-1, 1:], grid[1:, 1:]], -1)
    tets = np.concatenate([squares.reshape(-1, 4), tets])
    turn, shift = shapes.random_rotations(rng), rng.normal(size=3)
    points = np.column_stack(
        [np.full(500, -0.2), rng.uniform(-0.2, 0.2, 500), rng.uniform(0, 2, 500)]
    )
    vertices, points = vertices @ turn.T + shift, points @ turn.T + shift
    corners = vertices[tets[:24]]
    assert np.linalg.det(corners[:, 1:] - corners[:, :1]).any()
    found, coordinates, distances = araplbs.embed(vertices, tets, points)
    np.testing.assert_allclose(points_of(found, coordinates, vertices, tets), points, atol=1e-9)
    assert distances.max() < 1e-9


@pytest.mark.parametrize("scale", [1e-300, 1e-120, 1e-8, 1e5, 1e150])
def test_units_and_place_do_not_matter(scale):
    points = np.random.default_rng(6).uniform(-1, 3, (100, 3))
    tets, coordinates, distances = araplbs.embed(VERTICES, TETS, points)
    other = araplbs.embed(VERTICES * scale, TETS, points * scale)
    np.testing.assert_allclose(
        points_of(other[0], other[1]), points_of(tets, coordinates), atol=1e-12
    )
    np.testing.assert_allclose(other[2] / scale, distances, atol=1e-12)


def test_a_vertex_of_no_tet_does_not_matter():
    points = np.random.default_rng(6).uniform(-1, 3, (10, 3))
    found = araplbs.embed(np.concatenate([VERTICES, [[1e300] * 3]]), TETS, points)
    for a, b in zip(found, araplbs.embed(VERTICES, TETS, points), strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_point_just_beside_a_face_is_in_the_tet_on_its_side():
    """It is nearer than a millionth to many other tets, which are skipped."""
    vertices, tets = shapes.bar((2, 2, 12), (0.8, 0.8, 3.2))
    rng = np.random.default_rng(7)
    points = np.column_stack(
        [rng.uniform(-0.3, 0.3, (200, 2)), rng.integers(1, 12, 200) * 3.2 / 12]
    )
    points[:, 2] += rng.choice([-1, 1], 200) * 1e-7
    found, coordinates, distances = araplbs.embed(vertices, tets, points)
    assert distances.max() < 1e-12
    np.testing.assert_allclose(points_of(found, coordinates, vertices, tets), points, atol=1e-12)


def test_no_points():
    tets, coordinates, distances = araplbs.embed(VERTICES, TETS, np.zeros((0, 3)))
    assert tets.shape == (0,)
    assert coordinates.shape == (0, 4)
    assert distances.shape == (0,)


def test_what_is_refused():
    far = 0, 0, 1e160
    points, huge = VERTICES[:2], VERTICES * [1, 1, 0] / 0.22 * 1.7e308
    for kind, pattern, arguments in (
        (ValueError, "there are no tets", (VERTICES, [], points)),
        (ValueError, r"tets\[0, 3\] is 45, but there are", (VERTICES, [[0, 1, 2, 45]], points)),
        (ValueError, r"tets\[0, 0\] is -1", (VERTICES, [[-1, 1, 2, 3]], points)),
        (ValueError, "points contains nan: not finite", (VERTICES, TETS, [[np.nan, 0, 0]])),
        (ValueError, "vertices contains inf: not", (VERTICES * [1, 1, np.inf], TETS, points)),
        (ValueError, r"tets has shape \(2, 3\), expected", (VERTICES, TETS[:2, :3], points)),
        (ValueError, r"points has shape", (VERTICES, TETS, points[:, :2])),
        (ValueError, r"points\[1, 2\] is 1e\+160: too far", (VERTICES, TETS, [[0.0] * 3, far])),
        (ValueError, r"points\[0, 0\] is 1: too far", (VERTICES * 1e-200, TETS, np.eye(3))),
        (ValueError, "the bounding box of the tets is too large", (huge, TETS, points)),
        (TypeError, "tets must contain integers", (VERTICES, TETS.astype(float), points)),
        (TypeError, "tets must be an array, not None", (VERTICES, None, points)),
        (ValueError, "threads", (VERTICES, TETS, points, -1)),
    ):  # fmt: skip
        names = ("vertices", "tets", "points", "threads")
        refuse(kind, pattern, araplbs.embed, **dict(zip(names, arguments, strict=False)))
