"""Converts Surface Strain to colors and finds the vertices with the most strain. The viewport,
pages and pictures share one scale, on which gray means that the surface keeps its shape. Weights
are shown in Blender's scale, from blue to red."""

import numpy as np

from ..base.arrays import Floats, Integers

# Surface Strain and its color (sRGB). Skin that keeps its shape is gray.
STRAIN_COLORS = (
    (0.00, (205, 208, 213)),
    (0.08, (205, 208, 213)),
    (0.20, (247, 205, 108)),
    (0.40, (240, 128, 44)),
    (0.65, (203, 40, 38)),
    (1.00, (96, 8, 62)),
)
FULL_SCALE = STRAIN_COLORS[-1][0]  # Surface Strain shown in the last color
NO_COLOR = (90, 130, 200)  # if there is nothing to measure

# Dark blue, blue, green, yellow, red: for weights and other shares.
SHARE_COLORS = np.array(
    [(0.0, 0.0, 0.35), (0.0, 0.25, 0.9), (0.0, 0.8, 0.2), (0.95, 0.9, 0.0), (0.95, 0.05, 0.0)]
)


def worst(strain: Floats, share: float) -> Integers:
    """Indices of the `share` of the vertices with the largest strain, at least one."""
    count = max(1, round(share * len(strain)))
    return np.sort(np.argsort(-strain, kind="stable")[:count])


def strain_colors(strain: Floats) -> Floats:
    """sRGB colors (n, 3), from 0 to 255, for strains (n,)."""
    stops, values = zip(*STRAIN_COLORS, strict=True)
    colors = np.stack([np.interp(strain, stops, [v[c] for v in values]) for c in range(3)], axis=1)
    colors[~np.isfinite(strain)] = NO_COLOR
    return colors


def share_colors(shares: Floats) -> Floats:
    """Colors (n, 4) for shares from 0 to 1, as in Blender's display of weights."""
    at = np.clip(shares, 0, 1) * (len(SHARE_COLORS) - 1)
    low = np.minimum(at.astype(int), len(SHARE_COLORS) - 2)
    part = (at - low)[:, None]
    mixed = SHARE_COLORS[low] * (1 - part) + SHARE_COLORS[low + 1] * part
    return np.column_stack([mixed, np.ones(len(shares))]).astype(np.float32)
