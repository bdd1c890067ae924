"""Finds vertices at the mirrored positions of other vertices, on the other side of X = 0."""

from __future__ import annotations

import numpy as np

from ..base.arrays import Floats, Integers
from ..base.extent import sides_of

MIRROR_DISTANCE = 1e-3  # tolerance for a mirrored vertex, as a share of the mesh size


def images_of(points: Floats, vertices: Integers) -> Integers:
    """Pairs (k, 2) of an index in `vertices` and the vertex at the mirrored position, if there is
    one. points: (n, 3) of all vertices."""
    most = MIRROR_DISTANCE * float(sides_of(points).max())
    wanted = points[vertices] * np.array((-1, 1, 1), np.float32)
    order = np.argsort(points[:, 0])
    low = np.searchsorted(points[order, 0], wanted[:, 0] - most)
    high = np.searchsorted(points[order, 0], wanted[:, 0] + most, side="right")
    pairs = []
    for k, place in enumerate(wanted):
        near = order[low[k] : high[k]]
        distance = np.linalg.norm(points[near] - place, axis=1)
        if len(near) and distance.min() <= most:
            pairs.append((k, near[distance.argmin()]))
    return np.array(pairs, int).reshape(-1, 2)
