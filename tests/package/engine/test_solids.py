"""Closed solids that share corners stay apart, and surfaces with split edges do not
(mesh/solids.c)."""

import araplbs
import numpy as np
import pytest
import shapes
from shapes import join, split


def box(low, high, inside_out=False):
    """(points, triangles) with triangles facing outward."""
    points, triangles = shapes.box(np.subtract(high, low), np.add(high, low) / 2)
    return points, triangles[:, ::-1] if inside_out else triangles


def opened(points, triangles):
    """The same without its last face."""
    return points, triangles[:-2]


def parts(mesh):
    vertices, triangles = mesh
    solver = araplbs.Solver(
        vertices, triangles, [[0, 0, 0.2]], [[0, 0, 0.8]], [-1], rigid_departure=0
    )
    return solver.report["parts"]


LOWER, UPPER = box((0, 0, 0), (1, 1, 1)), box((0, 0, 1), (1, 1, 2))
ASIDE = box((1, 0, 1), (2, 1, 2))  # shares an edge with LOWER
CORNER = box((1, 1, 1), (2, 2, 2))  # shares a corner with LOWER


@pytest.mark.parametrize("other", [UPPER, ASIDE, CORNER], ids=["face", "edge", "corner"])
@pytest.mark.parametrize("how", [lambda *mesh: mesh, split], ids=["shared", "split"])
def test_solids_that_touch_are_apart(other, how):
    assert parts(join(how(*LOWER), how(*other))) == 2


def test_a_stack_is_apart():
    """The box in the middle shares all of its corners, four with each neighbor."""
    assert parts(join(split(*LOWER), split(*UPPER), split(*box((0, 0, 2), (1, 1, 3))))) == 3


def test_windings_do_not_matter_where_corners_are_own():
    assert parts(join(LOWER, box((0, 0, 1), (1, 1, 2), inside_out=True))) == 2


@pytest.mark.parametrize("inside_out", [False, True])
def test_layers_of_one_surface_are_one(inside_out):
    assert parts(join(LOWER, box((0, 0, 0), (1, 1, 1), inside_out))) == 1


def test_split_edges_are_one():
    assert parts(split(*LOWER)) == 1
    grid = np.stack(np.meshgrid(range(4), range(4), [0], indexing="ij"), -1).reshape(-1, 3) * 1.0
    corner = np.array([k for k in range(12) if k % 4 < 3])
    triangles = np.concatenate(
        [
            np.stack([corner, corner + 4, corner + 1], 1),
            np.stack([corner + 1, corner + 4, corner + 5], 1),
        ]
    )
    assert parts(split(grid, triangles)) == 1


def test_open_surfaces_join_what_they_touch():
    assert parts(join(LOWER, opened(*UPPER))) == 1
    assert parts(join(opened(*LOWER), opened(*UPPER))) == 1


def test_one_vertex_of_two_solids_joins_them():
    """A single vertex of the caller cannot move in two ways."""
    points, triangles = join(LOWER, UPPER)
    triangles[triangles == 8] = 1  # the lower corner of UPPER at LOWER's upper one
    assert parts((points, triangles)) == 1


def test_windings_that_tell_nothing_join():
    points, triangles = split(*box((0, 0, 1), (1, 1, 2), inside_out=True))
    assert parts(join(split(*LOWER), (points, triangles))) == 1


def test_a_jaw_opens():
    """Each box follows the bone inside it, although four corners of each coincide."""
    vertices, triangles = join(
        box((-1.2, -0.8, 3.2), (1.2, 0.2, 6.4)), box((-1.2, -1.6, 3.2), (1.2, -0.8, 6.4))
    )
    heads, tails = [[0, -0.3, 3.4], [0, -1.2, 3.4]], [[0, -0.3, 6.2], [0, -1.2, 6.2]]
    solver = araplbs.Solver(vertices, triangles, heads, tails, [-1, -1])
    solver.solve()
    weights = np.asarray(solver.weights)
    np.testing.assert_allclose(weights[:8], [[1, 0]] * 8)
    np.testing.assert_allclose(weights[8:], [[0, 1]] * 8)
