"""Thins dots that are drawn on a surface, so the surface stays visible."""

from __future__ import annotations

import numpy as np

from ..base.arrays import Floats, Integers

CELL = 9  # pixels: at most one thinned dot is drawn in a cell of this size


def thinned(points: Floats, matrix: Floats, width: int, height: int) -> Integers:
    """Indices of a subset of the points (n, 3) that keeps the surface below visible. In each cell
    of the screen, only the point nearest to the viewer is kept. matrix (4, 4): view and
    perspective; width, height: size of the region in pixels."""
    seen = np.column_stack([points, np.ones(len(points))]) @ np.asarray(matrix).T
    ahead = np.flatnonzero(seen[:, 3] > 0)
    if not len(ahead):
        return ahead
    places = seen[ahead, :3] / seen[ahead, 3:]
    inside = (np.abs(places[:, :2]) <= 1).all(1)
    ahead, places = ahead[inside], places[inside]
    cells = np.floor((places[:, :2] + 1) / 2 * np.array([width, height]) / CELL).astype(np.int64)
    key = cells[:, 0] * (height + 1) + cells[:, 1]
    order = np.lexsort([places[:, 2], key])
    first = np.ones(len(order), bool)
    first[1:] = key[order][1:] != key[order][:-1]
    return np.sort(ahead[order[first]])
