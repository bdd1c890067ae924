"""Computes the lines that draw old and new bones as octahedra, with their displacements and
locks."""

from __future__ import annotations

import numpy as np

from ...base.arrays import Bools, Floats, Integers
from ...skeleton.skeleton import Skeleton

WIDTH = 0.1  # widest point of an octahedron and its width there, as shares of its length
DASHES = 9  # on each edge
CROSS = 0.12  # arms of a cross, as a share of the bone's length
LEAST_WAY = 0.005  # share of a bone's length that justifies a line

# Edges between head, tail and the four corners around.
EDGES = np.array(
    [(0, k) for k in range(2, 6)]
    + [(1, k) for k in range(2, 6)]
    + [(k, 2 + (k - 1) % 4) for k in range(2, 6)]
)


def corners(skeleton: Skeleton, shown: Integers, posed: Floats) -> Floats:
    """The head, tail and four corners of each octahedron, (k, 6, 3)."""
    heads, tails, z = (a[shown] for a in (skeleton.heads, skeleton.tails, skeleton.roll_axes))
    along = tails - heads
    length = np.linalg.norm(along, axis=1, keepdims=True)
    z = z / np.maximum(np.linalg.norm(z, axis=1, keepdims=True), 1e-12) * WIDTH * length
    x = np.cross(along / np.maximum(length, 1e-12), z)
    ring = heads + WIDTH * along
    points = np.stack([heads, tails, ring + x, ring + z, ring - x, ring - z], axis=1)
    return points @ posed[:, :3, :3].transpose(0, 2, 1) + posed[:, None, :3, 3]


def dashed(lines: Floats) -> Floats:
    """Cuts lines (n, 2, 3) into dashes."""
    at = (np.arange(2 * DASHES) / (2 * DASHES - 1)).reshape(DASHES, 2)[None, :, :, None]
    return (lines[:, None, :1] * (1 - at) + lines[:, None, 1:] * at).reshape(-1, 2, 3)


def ways(old: Floats, new: Floats) -> Floats:
    """Lines from old to new ends with a visible displacement."""
    ends = np.stack([old[:, :2], new[:, :2]], axis=2)
    far = np.linalg.norm(ends[:, :, 1] - ends[:, :, 0], axis=2)
    length = np.linalg.norm(old[:, 1] - old[:, 0], axis=1)[:, None]
    return ends[far > LEAST_WAY * length]


def crosses(old: Floats, pinned: Bools) -> Floats:
    """Three lines at each pinned end, (k, 2)."""
    length = np.linalg.norm(old[:, 1] - old[:, 0], axis=1)
    arms = CROSS * np.stack([length, length], axis=1)[pinned]
    signs = np.stack([-np.eye(3), np.eye(3)], axis=1)  # (axis, side, 3)
    return old[:, :2][pinned][:, None, None] + arms[:, None, None, None] * signs
