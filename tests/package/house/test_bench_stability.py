"""The finer mesh of the stability benchmark: the same surface, with the original vertices first."""

import sys
from importlib import import_module

import numpy as np
import shapes
from paths import ROOT

sys.path.append(str(ROOT / "bench"))
stability = import_module("stability")


def areas(vertices, triangles):
    a, b, c = vertices[triangles].swapaxes(0, 1)
    return np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2


def test_subdivided():
    vertices, triangles = shapes.tube(8, 5, caps=True)
    wires = np.array([[0, 9], [9, 18]])
    finer = stability.subdivided({"vertices": vertices, "triangles": triangles, "edges": wires})
    n = len(vertices)
    np.testing.assert_array_equal(finer["vertices"][:n], vertices)
    assert len(finer["triangles"]) == 4 * len(triangles)
    quarters = areas(finer["vertices"], finer["triangles"]).reshape(4, -1)
    np.testing.assert_allclose(quarters, np.tile(areas(vertices, triangles) / 4, (4, 1)))
    edges = np.sort(np.concatenate([finer["triangles"][:, [k, (k + 1) % 3]] for k in range(3)]), 1)
    assert (np.unique(edges, axis=0, return_counts=True)[1] == 2).all(), "closed, as before"
    assert len(finer["edges"]) == 4
    middles = finer["vertices"][finer["edges"].max(1)]
    np.testing.assert_allclose(middles[:2], vertices[wires].mean(1))
    assert len(np.unique(finer["triangles"])) == len(finer["vertices"]), "none without a face"


def test_distance():
    one, other = np.array([[1.0, 0], [0.5, 0.5]]), np.array([[0.0, 1], [0.5, 0.5]])
    assert stability.distance(one, other) == 1
