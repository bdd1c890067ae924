"""Clothes: garments of one sheet, of several sheets and with thickness stay above the surface that
they lie on."""

import sys
from pathlib import Path

import araplbs
import numpy as np
import pytest
import reference
import shapes
from test_parts import of_the_paper

sys.path.append(str(Path(__file__).resolve().parents[3] / "bench"))
from layers import Layers

BONES = shapes.chain(2)
BODY = shapes.tube(16, 41, caps=True)  # it bends in the middle


def sleeve(around, along, radius, ends=(0.5, 1.5)):
    vertices, triangles = shapes.tube(around, along, radius)
    vertices[:, 2] = np.interp(vertices[:, 2], (0, 2), ends)
    return vertices, triangles


def thick_sleeve(around, along, radius, thickness):
    """A sleeve with an inner wall, closed at both ends."""
    outer, inner = sleeve(around, along, radius + thickness), sleeve(around, along, radius)
    n, low = len(outer[0]), np.arange(around)
    triangles = [outer[1], inner[1][:, ::-1] + n]
    for a, out in ((low, True), (n - around + low, False)):
        b = np.roll(a, -1)
        rim = np.column_stack([[a, b + n, b], [a, a + n, b + n]]).T
        triangles.append(rim if out else rim[:, ::-1])
    return np.concatenate([outer[0], inner[0]]), np.concatenate(triangles)


def crossed(mesh, **settings):
    """(shares that end up below and come through in poses not used for optimization, the
    solver)."""
    solver = shapes.solve(mesh, BONES, **settings)
    poses = araplbs.sample_poses(*BONES, 40, seed=99, **BONES.more)
    points = reference.posed(mesh[0], solver.weights, poses)
    layers = Layers(np.asarray(mesh[0], float), mesh[1])
    assert layers.count > 80
    return np.mean([layers.crossed(posed) for posed in points], axis=0), solver


GARMENTS = {
    "coarser than the skin": [sleeve(12, 25, 0.21)],
    "finer": [sleeve(30, 60, 0.206)],
    "one over the other": [sleeve(12, 25, 0.21), sleeve(14, 18, 0.225, (0.6, 1.7))],
    "with thickness": [thick_sleeve(12, 25, 0.206, 0.015)],
}


@pytest.mark.parametrize("garment", GARMENTS)
def test_a_garment_stays_above_the_skin(garment):
    """Without links between layers, 4 to 10 % of its vertices end up below."""
    (below, _through), solver = crossed(shapes.join(BODY, *GARMENTS[garment]))
    assert below < 0.015
    assert solver.report["layer_links"] > 100


@pytest.mark.parametrize("garment", ["coarser than the skin", "finer"])
def test_the_skin_stays_below_the_garment(garment):
    (_below, through), _ = crossed(shapes.join(BODY, *GARMENTS[garment]))
    assert through < 0.07  # 13 to 16 % without ties


def test_seams_of_garments_stay_closed():
    """Seams stay closed even if every triangle has corners of its own."""
    vertices, triangles = shapes.split(*sleeve(12, 25, 0.21))
    mesh = shapes.join(BODY, (vertices, triangles))
    _, solver = crossed(mesh)
    weights = solver.weights[len(BODY[0]) :]
    _, which = np.unique(np.round(vertices, 7), axis=0, return_inverse=True)
    first = np.full(which.max() + 1, len(vertices))
    np.minimum.at(first, which.ravel(), np.arange(len(vertices)))
    np.testing.assert_array_equal(weights, weights[first[which.ravel()]])
    assert solver.report["layer_links"] > 100


def closed(*ends, radius=0.2):
    vertices, triangles = shapes.tube(16, 21, radius, caps=True)
    vertices[:, 2] = np.interp(vertices[:, 2], (0, 2), ends)
    return vertices, triangles


def moved(mesh, x):
    return mesh[0] + [x, 0, 0], mesh[1]


@pytest.mark.parametrize(
    "parts",
    [
        [BODY],
        [closed(0, 1.1), closed(0.9, 2, radius=0.205)],  # shells that meet in a joint
        [BODY, shapes.box((0.04, 0.1, 0.1), (0.24, 0, 1.0))],  # a button
        [BODY, moved(closed(0.2, 1.8, radius=0.01), 0.215)],
        [BODY, shapes.box((0.02, 0.06, 1.8), (0.215, 0, 1.0))],
    ],
    ids=["one piece", "shells", "button", "rod", "blade"],
)
def test_what_is_no_cloth_is_not_tied_so(parts):
    solver = shapes.solver(shapes.join(*parts), BONES)
    assert solver.report["layer_links"] == 0


def test_a_limb_with_a_hole_is_no_sheet():
    """A limb with an open end is a sheet, like a sleeve."""
    vertices, triangles = closed(0.6, 2, radius=0.205)
    whole = closed(0, 1.4)
    hole = shapes.join(whole, (vertices, triangles[:-1]))
    end = shapes.join(whole, (vertices, triangles[: -2 * 16]))
    counts = [shapes.solver(mesh, BONES).report["layer_links"] for mesh in (hole, end)]
    assert counts[0] == 0 < counts[1]


def test_plates_that_span_no_joint_are_not_tied_so():
    """A shell around one bone is a plate of a robot. A shell around both bones is a sleeve."""
    counts = []
    for height in (0.95, 1.4):
        mesh = shapes.join(BODY, shapes.tube(16, 21, radius=0.21, height=height))
        counts.append(shapes.solver(mesh, BONES).report["layer_links"])
    assert counts[0] == 0 < counts[1]


def test_a_garment_far_off_or_turned_inside_out_is_not_tied():
    far, (vertices, triangles) = sleeve(12, 25, 0.32), sleeve(12, 25, 0.21)
    for garment in (far, (vertices, triangles[:, ::-1])):
        solver = shapes.solver(shapes.join(BODY, garment), BONES)
        assert solver.report["layer_links"] == 0


def test_layers_weigh_a_share_of_wires(rng):
    """The share is that of docs/energy.md 1. Other links have a smaller share."""
    mesh = shapes.join(BODY, sleeve(12, 9, 0.21), shapes.box((0.04, 0.1, 0.1), (0.24, 0, 1.7)))
    solver, weights, poses = of_the_paper(mesh, BONES, rng)
    links, layers = solver._inside["wires"], solver.report["layer_links"]
    assert 0 < layers < len(links)
    _, a = reference.edge_weights(mesh[0], mesh[1], links=links[:-layers], layers=links[-layers:])
    expected = reference.relative_energy(mesh[0], a, weights, poses)
    assert solver.energies[0] == pytest.approx(expected, rel=1e-9)
