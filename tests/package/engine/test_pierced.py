"""Skin past the middle of the body that is nearer to the bones of the other side, as in shoes that
touch (csrc/initial/pierced.c), and skin that is past the middle only because of rounding."""

import araplbs
import numpy as np
import pytest
import shapes

PARTNERS = np.array([0, 4, 5, 6, 1, 2, 3])  # hips; thigh, shin, foot of each side
LEFT, RIGHT = slice(1, 4), slice(4, 7)


def ring(x, y, z, width, depth):
    return [(x + a * width, y + b * depth, z) for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]


def legs(past, levels=0, hips=0.2):
    """A leg with a block of a shoe whose inner side is past the middle by `past`, and its mirror
    image, joined in the middle if the hips are 0.2 wide; returns vertices, triangles, and the
    number of vertices on the left."""
    rings = [
        ring(0.2, 0, 2, hips, 0.2),
        ring(0.25, 0, 1.2, 0.2, 0.2),
        ring(0.25, 0, 0.7, 0.14, 0.14),
    ]
    rings += [ring(0.25, 0, 0.25, 0.12, 0.12), ring(0.25, -0.1, 0, 0.25 + past, 0.35)]
    quads = [(0, 3, 2, 1), (16, 17, 18, 19)]
    for k in range(0, 16, 4):
        quads += [(k + i, k + (i + 1) % 4, k + 4 + (i + 1) % 4, k + 4 + i) for i in range(4)]
    faces = [t for a, b, c, d in quads for t in ((a, c, b), (a, d, c))]
    vertices, triangles = np.array([point for points in rings for point in points]), np.array(faces)
    for _ in range(levels):
        vertices, triangles = shapes.halved(vertices, triangles)
    n = len(vertices)
    both = np.concatenate([vertices, vertices * [-1, 1, 1]])
    number = np.arange(2 * n)
    number[n:][vertices[:, 0] == 0] = np.flatnonzero(vertices[:, 0] == 0)
    used, number = np.unique(number, return_inverse=True)
    triangles = number[np.concatenate([triangles, triangles[:, ::-1] + n])]
    within = (both[used][triangles][:, :, 0] == 0).all(1)
    return both[used], triangles[~within], n


def weights_of(vertices, triangles, **more):
    heads, tails = [(0, 0, 2)], [(0, 0, 1.8)]
    for x in (0.25, -0.25):
        heads += [(x, 0, 1.6), (x, 0, 0.8), (x, 0, 0.2)]
        tails += [(x, 0, 0.8), (x, 0, 0.2), (x, -0.3, 0.05)]
    more.setdefault("symmetry", (PARTNERS, np.zeros(3), np.array([1.0, 0, 0])))
    solver = araplbs.Solver(
        vertices,
        triangles,
        np.array(heads, float),
        np.array(tails, float),
        [-1, 0, 1, 2, 0, 4, 5],
        max_influences=4,
        **more,
    )
    solver.solve()
    return np.asarray(solver.weights)


@pytest.mark.parametrize("hips", [0.2, 0.16])  # one part, or two
@pytest.mark.parametrize("levels", [0, 1, 2])
@pytest.mark.parametrize("past", [-0.02, 0.03, 0.06, 0.1])
def test_a_shoe_follows_its_own_leg(past, levels, hips):
    vertices, triangles, n = legs(past, levels, hips)
    weights = weights_of(vertices, triangles)
    shoe = np.flatnonzero(vertices[:n, 2] < 0.1)
    assert len(shoe) >= 4
    assert weights[shoe][:, RIGHT].sum(1).max() < 0.02


def test_without_the_other_side_nothing_changes():
    """The nearest bone counts if no bone is the image of another: half of the shoe is lost."""
    vertices, triangles, n = legs(0.1)
    weights = weights_of(vertices, triangles, symmetry=None)
    shoe = np.flatnonzero(vertices[:n, 2] < 0.1)
    assert weights[shoe][:, RIGHT].sum(1).max() > 0.3


@pytest.mark.parametrize("levels", [0, 1, 2])
def test_faces_inside_out_decide_nothing(levels):
    vertices, triangles, n = legs(0.06, levels)
    shoe = np.flatnonzero(vertices[:n, 2] < 0.1)
    assert weights_of(vertices, triangles[:, ::-1])[shoe][:, RIGHT].sum(1).max() < 0.02


def test_turned_faces_of_a_leg_keep_its_bones():
    """The soles of shoes that do not meet point upward: their corners face the wrong side."""
    vertices, triangles, n = legs(-0.02, 2)
    sole = (vertices[triangles][:, :, 2] == 0).all(1)
    turned = triangles.copy()
    turned[sole] = turned[sole][:, ::-1]
    shoe = np.flatnonzero(vertices[:n, 2] < 0.1)
    assert weights_of(vertices, turned)[shoe][:, RIGHT].sum(1).max() < 0.02


def test_a_person_allows_the_other_leg():
    """An edit that excludes the vertex's own leg takes precedence."""
    vertices, triangles, _n = legs(0.1)
    corner = int(np.flatnonzero(np.isclose(vertices, [-0.1, -0.45, 0]).all(1))[0])
    assert weights_of(vertices, triangles)[corner, LEFT].sum() > 0.9
    without = (np.full(4, corner), np.arange(4), np.zeros(4, bool))
    weights = weights_of(vertices, triangles, influences=without)
    assert weights[corner, RIGHT].sum() > 0.9
