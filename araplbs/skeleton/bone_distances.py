"""Computes distances between points and bones, all in armature space."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..base.arrays import Bools, Floats, Index, Integers, ranges
from ..model.sparse_weights import SparseWeights
from .skeleton import Skeleton

NEARER = 0.9  # ratio of distances: skin this much nearer to a bone belongs to it
SLACK = 1e-6  # tolerance for rounding
MOST_AT_ONCE = 1 << 20  # distances in memory
LEAST, LEAST_SHARE = 4, 0.002  # vertices, and share of them; fewer are not counted as skin


def distances(points: Floats, heads: Floats, tails: Floats) -> Floats:
    """Distances (...) between points (..., 3) and segments."""
    along, to = tails - heads, points - heads
    share = (to * along).sum(-1) / np.maximum((along**2).sum(-1), 1e-300)
    return np.linalg.norm(to - np.clip(share, 0, 1)[..., None] * along, axis=-1)


def distances_from_own(points: Floats, skeleton: Skeleton, bones: Integers | Index) -> Floats:
    """The distance of each point from its bone, (n,)."""
    return distances(points, skeleton.heads[bones], skeleton.tails[bones])


def nearest_bones(points: Floats, skeleton: Skeleton) -> Integers:
    """The deform bone nearest to each of these points (n, 3), as (n,)."""
    best, nearest = np.full(len(points), np.inf), np.zeros(len(points), int)
    for bone in np.flatnonzero(skeleton.deform):
        distance = distances_from_own(points, skeleton, bone)
        nearest[distance < best] = bone
        best = np.minimum(best, distance)
    return nearest


def has_skin(
    points: Floats, rows: SparseWeights, skeleton: Skeleton, bones: Sequence[Index] | Integers
) -> Bools:
    """Returns (bones,) bool: whether the bone has skin that is nearer to it than to the bone with
    most of the skin's weight.

    rows: the SparseWeights of the points.
    """
    if not len(bones):
        return np.zeros(0, bool)
    weighted, leaders = rows.leaders()
    skin = points[weighted]
    reaches, counts = NEARER * distances_from_own(skin, skeleton, leaders), []
    x, y, z = np.ascontiguousarray(skin.T)
    for bone in bones:
        # No point of a bone is farther from its middle than half its length, which allows a quick
        # first check.
        ends = skeleton.heads[bone], skeleton.tails[bone]
        middle = (ends[0] + ends[1]) / 2
        reach = reaches + (1 + SLACK) / 2 * np.linalg.norm(ends[1] - ends[0])
        squares = (x - middle[0]) ** 2 + (y - middle[1]) ** 2 + (z - middle[2]) ** 2
        close = np.flatnonzero(squares <= (1 + SLACK) * reach * reach)
        counts.append(np.sum(distances_from_own(skin[close], skeleton, bone) < reaches[close]))
    return np.array(counts, int) >= max(LEAST, LEAST_SHARE * len(points))


def close_pairs(
    points: Floats, others: Floats, reach: Floats
) -> Iterator[tuple[Integers, Integers]]:
    """Yields arrays (numbers of points, numbers of others), by point, of all pairs that are within
    the reach (n,) of the point along each axis. Memory does not grow with the number of pairs."""
    if not len(points) or not len(others):
        return
    reach = reach + SLACK * max(np.abs(points).max(), np.abs(others).max())  # of rounding
    axis = int(np.ptp(others, axis=0).argmax())
    order = np.argsort(others[:, axis], kind="stable")
    along = others[order, axis]
    begins = np.searchsorted(along, points[:, axis] - reach)
    counts = np.searchsorted(along, points[:, axis] + reach, side="right") - begins
    ends = np.cumsum(counts)
    begin = 0
    while begin < len(points):
        offset = ends[begin] - counts[begin]
        end = max(begin + 1, int(np.searchsorted(ends, offset + MOST_AT_ONCE, side="right")))
        block = slice(begin, end)
        rows = np.repeat(np.arange(begin, end), counts[block])
        columns = order[ranges(begins[block], counts[block])]
        close = (np.abs(points[rows] - others[columns]) <= reach[rows, None]).all(axis=1)
        yield rows[close], columns[close]
        begin = end
