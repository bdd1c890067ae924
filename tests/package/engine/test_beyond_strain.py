"""Tests the benchmark's measures other than strain on small meshes with known results."""

import sys
from importlib import import_module
from itertools import combinations

import numpy as np
import pytest
from paths import ROOT

pytest.importorskip("scipy", reason="make bench brings it")
sys.path.append(str(ROOT / "bench"))
beyond_strain, creases, crossings, sides, yardstick = map(
    import_module, ("beyond_strain", "creases", "crossings", "sides", "yardstick")
)

FAR = np.array([0.0, 0, 9])
TRIANGLE = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])


def soup(*triangles):
    points = np.concatenate(triangles)
    return points, np.arange(len(points)).reshape(-1, 3)


def test_triangles_that_come_to_cross():
    """One triangle passes through another of twice its area; the third is apart."""
    upright = TRIANGLE[:, [0, 2, 1]] * [1, 1, 2] + [0, 0.2, 0.1]
    points, triangles = soup(TRIANGLE, upright, TRIANGLE + FAR)
    found = crossings.Crossings(points, triangles)
    assert found.share(points) == 0
    posed = points.copy()
    posed[3:6] -= [0, 0, 0.3]
    assert found.share(posed) == pytest.approx(3 / 4)
    posed[3:6] -= [0, 0, 9]
    assert found.share(posed) == 0, "below"


def test_what_crosses_at_rest_does_not_count():
    upright = TRIANGLE[:, [0, 2, 1]] + [0, 0.2, -0.2]
    points, triangles = soup(TRIANGLE, upright, TRIANGLE + FAR)
    found = crossings.Crossings(points, triangles)
    assert found.share(points) == 0
    posed = points.copy()
    posed[6:] -= [0, 0, 8.7]  # into the second, which crosses the first in any case
    assert found.share(posed) == pytest.approx(2 / 3)


def test_neighbors_do_not_cross():
    """A closing fold, with coincident corners at a seam."""
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 0], [1, 0, 0]])
    triangles = np.array([[0, 1, 2], [4, 5, 3]])
    folded = points.copy()
    folded[3] = [0.5, 0.5, 1e-9]
    assert crossings.Crossings(points, triangles).share(folded) == 0


def test_no_pair_is_missed(rng):
    """Boxes of any size, compared with all pairs."""
    size = np.exp(rng.normal(0, 1.2, (120, 1, 1)))
    corners = rng.uniform(0, 4, (120, 1, 3)) + size * rng.normal(size=(120, 3, 3)) / 4
    found = crossings.near_pairs(corners)
    low, high = corners.min(1), corners.max(1)
    wanted = {
        (i, j) for i, j in combinations(range(120), 2)
        if (low[i] <= high[j]).all() and (low[j] <= high[i]).all()
    }  # fmt: skip
    assert len(found) == len(wanted) > 100, "each once"
    assert {tuple(sorted(pair)) for pair in found.tolist()} == wanted


def strip(count=4):
    """Squares of two triangles in a row along X: (points, triangles)."""
    x, y = np.meshgrid(np.arange(count + 1.0), [0.0, 1], indexing="ij")
    points = np.column_stack([x.ravel(), y.ravel(), 0 * x.ravel()])
    corners = np.array([[0, 2, 1], [1, 2, 3]])
    return points, (2 * np.arange(count)[:, None, None] + corners).reshape(-1, 3)


@pytest.mark.parametrize(("degrees", "creased"), [(50, 0), (70, 1)])
def test_an_edge_that_folds(degrees, creased):
    """One of three edges across the strip, next to four diagonals."""
    points, triangles = strip()
    posed, turned = points.copy(), points[:, 0] > 2
    off = posed[turned, 0] - 2
    posed[turned, 0] = 2 + off * np.cos(np.radians(degrees))
    posed[turned, 2] = off * np.sin(np.radians(degrees))
    found = creases.Creases(points, triangles)
    assert found.length.sum() == pytest.approx(3 + 4 * np.sqrt(2))
    assert found.share(posed) == pytest.approx(creased / found.length.sum())
    assert creases.Creases(posed, triangles).share(posed) == 0, "a fold at rest"


def test_a_seam_folds_as_well():
    points, triangles = strip(2)
    split = np.concatenate([points, points[2:4]])
    triangles[2:][triangles[2:] == 2], triangles[2:][triangles[2:] == 3] = 6, 7
    posed = split.copy()
    posed[4:6] = split[[2, 3]] + [0, 0, 1]
    found = creases.Creases(split, triangles)
    assert found.share(posed) == pytest.approx(1 / (1 + 2 * np.sqrt(2)))


HEADS = np.array([[0.0, 0, 0], [0.5, 0, 1], [-0.5, 0, 1]])
TAILS = np.array([[0.0, 0, 1], [2, 0, 1], [-2, 0, 1]])


def two_arms():
    """(points, rows) of a row of points along X, symmetric."""
    points = np.column_stack([np.linspace(-2, 2, 9), np.zeros(9), np.ones(9)])
    left = np.clip(points[:, 0] - 0.5, 0, 1)
    right = left[::-1]
    return points, np.column_stack([1 - left - right, left, right])


def test_weights_unlike_the_other_side():
    points, rows = two_arms()
    found = sides.Sides(points, HEADS, TAILS)
    assert found.known and found.bones.tolist() == [0, 2, 1]
    assert found.difference(rows) == 0
    rows[0] = [0.3, 0, 0.7]  # of 9 vertices this and its partner differ, by twice 0.3
    assert found.difference(rows) == pytest.approx(2 * 0.6 / 9)


def character(**changed):
    """Two boxes on each other, to each of which the artist gave a bone of its own."""
    corners = np.array([(x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 1)], float)
    box = np.array([[0, 2, 1], [1, 2, 3], [4, 5, 6], [5, 7, 6], [0, 1, 4], [1, 5, 4], [2, 6, 3],
                    [3, 6, 7], [0, 4, 2], [2, 4, 6], [1, 3, 5], [3, 7, 5]])  # fmt: skip
    points = np.concatenate([corners, corners * 0.5 + [0.01, 0.01, 1.01], [[0.5, 0.5, 0.5]]])
    weights = np.repeat(np.eye(2), [8, 9], axis=0)
    weights[-1] = [1, 0]
    pose = np.tile(np.eye(4), (2, 1, 1))
    pose[1, 2, 3] = -0.4  # the upper one sinks into the lower one
    model = {
        "V": points, "F": np.concatenate([box, [[0, 1, 16]], box + 8]), "W": weights,
        "bone_head": np.array([[0.5, 0.5, 0], [0.5, 0.5, 1]]),
        "bone_tail": np.array([[0.5, 0.5, 1], [0.5, 0.5, 2]]),
        "bone_parent": np.array([-1, 0]), "bone_deform": np.ones(2, bool),
        "anim": pose[None],
    }  # fmt: skip
    return {**model, **changed}


def judged(weights, **changed):
    return beyond_strain.BeyondStrain(yardstick.Yardstick(character(**changed))).judge(weights)


def test_a_character():
    weights = character()["W"]
    found = judged(weights)["animation"]
    assert (found["deaf"], found["wrong"], found["parts"]) == (0, 0, 1)
    assert found["crease"] == 0 and np.isnan(found["asymmetry"])
    lid, sides_of_upper = 1, 4 * 0.25  # what crosses: the top below, the sides above
    area = 6 + 6 * 0.25 + np.sqrt(0.5) / 2
    assert found["crossing"] == pytest.approx((lid + sides_of_upper) / area)
    far = np.hypot(0.39, 0.01 * np.sqrt(2)) - 0.01 * np.sqrt(3)
    assert found["gap"] == pytest.approx(far / np.linalg.norm([1, 1, 1.51]), rel=0.001)
    whole = np.tile([1.0, 0], (17, 1))
    found = judged(whole)["animation"]
    assert (found["deaf"], found["wrong"], found["crossing"]) == (1, 1, 0)


def grid(first, last):
    """Nine vertices, and eight triangles between them."""
    x, y = (c.ravel() for c in np.meshgrid(*[np.linspace(first, last, 3)] * 2, indexing="ij"))
    square = np.array([[0, 3, 1], [1, 3, 4]])
    return np.column_stack([x, y]), np.concatenate([square + corner for corner in (0, 1, 3, 4)])


def sheets():
    """A small sheet under a large one."""
    (under, triangles), (over, _) = grid(0.4, 0.6), grid(0, 1)
    points = np.column_stack([np.concatenate([under, over]), np.repeat([1, 1.01], 9)])
    weights = np.repeat(np.eye(2)[::-1], 9, axis=0)
    pose = np.tile(np.eye(4), (2, 1, 1))
    pose[1, 2, 3] = 0.1  # the lower one rises
    return character(
        V=points, F=np.concatenate([triangles, triangles + 9]), W=weights, anim=pose[None]
    )


def test_layers_that_come_through():
    model = sheets()
    assert judged(model["W"], **model)["animation"]["through"] == 1
    half = model["W"].copy()
    half[:3] = [1, 0]
    assert judged(half, **model)["animation"]["through"] == pytest.approx(6 / 9)


def sheet_on_a_box():
    """A sheet of nine vertices that lies on the upper face of a box."""
    model = character()
    places, triangles = grid(0.25, 0.75)
    sheet = np.column_stack([places, np.full(9, 1.01)])
    return {
        **model, "V": np.concatenate([model["V"][:8], sheet]),
        "F": np.concatenate([model["F"][:12], triangles + 8]),
        "W": np.repeat(np.eye(2), [8, 9], axis=0),
    }  # fmt: skip


def test_layers_that_end_below():
    model = sheet_on_a_box()
    found = judged(model["W"], **model)["animation"]
    assert found["below"] == 1, "all of it sinks into the box"
    still = np.tile([1.0, 0], (17, 1))
    assert judged(still, **model)["animation"]["below"] == 0
    half = model["W"].copy()
    half[8:11] = [1, 0]
    assert judged(half, **model)["animation"]["below"] == pytest.approx(6 / 9)


def test_a_part_that_is_lifted():
    pose = character()["anim"].copy()
    pose[0, 1, 2, 3] = 1
    found = judged(character()["W"], anim=pose)["animation"]
    far = 1 + 0.01 - 0.01 * np.sqrt(3)
    assert found["gap"] == pytest.approx(far / np.linalg.norm([1, 1, 1.51]), rel=0.001)
