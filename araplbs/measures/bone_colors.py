"""Computes a color for every bone, and the weighted mean of bone colors for every vertex."""

import colorsys

import numpy as np

from ..base.arrays import Floats
from ..model.sparse_weights import SparseWeights

TURN = 0.618034  # hue step between successive bones: neighbors differ most
LOOKS = ((0.75, 0.95), (0.55, 1.0), (0.9, 0.7))  # saturation and value, alternating
NO_WEIGHTS = (0.0, 0.0, 0.0)


def palette(count: int) -> Floats:
    """The colors of all bones, (count, 3)."""
    found = [
        colorsys.hsv_to_rgb(bone * TURN % 1, *LOOKS[bone % len(LOOKS)]) for bone in range(count)
    ]
    return np.array(found).reshape(-1, 3)


def bone_colors(rows: SparseWeights, count: int) -> Floats:
    """Vertex colors (n, 3) for weights of this many bones."""
    vertices, sums, shades = rows.vertices, rows.sums(), palette(count)[rows.bones]
    mixed = [np.bincount(vertices, rows.weights * shades[:, c], rows.count) for c in range(3)]
    whole = np.stack(mixed, axis=1) / np.where(sums > 0, sums, 1)[:, None]
    return np.where((sums > 0)[:, None], whole, NO_WEIGHTS)
