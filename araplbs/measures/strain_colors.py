"""Surface Strain as colors, and the vertices that have most of it."""

import numpy as np

from ..base.arrays import Floats, Integers

FULL_SCALE = 0.5  # Surface Strain that is shown in the last color


def worst(strain: Floats, share: float) -> Integers:
    """Indices of the `share` of the vertices with the largest strain, at least one."""
    count = max(1, round(share * len(strain)))
    return np.sort(np.argsort(-strain, kind="stable")[:count])


# Dark blue, blue, green, yellow, red: as weights are shown.
COLORS = np.array(
    [(0.0, 0.0, 0.35), (0.0, 0.25, 0.9), (0.0, 0.8, 0.2), (0.95, 0.9, 0.0), (0.95, 0.05, 0.0)]
)


def colors(strain: Floats) -> Floats:
    """(n, 4) colors of strain from 0 to FULL_SCALE."""
    at = np.clip(strain / FULL_SCALE, 0, 1) * (len(COLORS) - 1)
    low = np.minimum(at.astype(int), len(COLORS) - 2)
    part = (at - low)[:, None]
    mixed = COLORS[low] * (1 - part) + COLORS[low + 1] * part
    return np.column_stack([mixed, np.ones(len(strain))]).astype(np.float32)
