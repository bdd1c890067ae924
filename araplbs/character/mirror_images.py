"""Finds vertices at the mirrored positions of other vertices, on the other side of X = 0, and the
painted weights that they should have."""

from __future__ import annotations

import numpy as np

from ..base.arrays import Bools, Floats, Integers
from ..base.extent import sides_of
from ..model.sparse_weights import SparseWeights, all_entries, make_sparse_weights

MIRROR_DISTANCE = 1e-3  # tolerance for a mirrored vertex, as a share of the mesh size
SAME = 1e-5  # weights of a vertex that differ less in total are equal


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


def mirrored(rows: SparseWeights, images: Integers, opposite: Integers) -> SparseWeights:
    """The weights that each vertex has if it equals its image. images (n,): the vertex at the
    mirrored position, -1 for none; opposite (m,): the bone on the other side."""
    to = images[rows.vertices]
    some = to >= 0
    return make_sparse_weights(rows.count, to[some], opposite[rows.bones[some]], rows.weights[some])


def distances(one: SparseWeights, other: SparseWeights) -> Floats:
    """The sum of the differences of the weights at each vertex, (n,)."""
    return np.bincount(*one.differences(other), one.count).astype(float)


def painted(
    rows: SparseWeights,
    image: SparseWeights,
    before: SparseWeights | None,
    images: Integers,
) -> tuple[Bools, Bools]:
    """Finds the vertices that were painted and differ from their images: (n,) bool, those whose
    image was not painted, and those whose image was painted as well. before: the weights before the
    painting; None if unknown, so that all vertices may have been painted."""
    differ = (images >= 0) & (distances(rows, image) > SAME)
    changed = np.ones(rows.count, bool)
    if before is not None:
        changed = distances(rows, before) > SAME
    return differ & changed & ~changed[images], differ & changed & changed[images]


def beside_locked(rows: SparseWeights, wanted: SparseWeights, locked: Bools) -> SparseWeights:
    """The wanted weights, except that the locked bones (m,) bool keep the weights that they have in
    `rows`. The other bones share the rest, or those of `rows` if no other bone is wanted."""
    kept, own, free = rows.of_bones(locked), wanted.of_bones(~locked), rows.of_bones(~locked)
    room = np.maximum(wanted.sums() - kept.sums(), 0)
    none = (own.sums() == 0) & (room > 0)
    own = all_entries(rows.count, own.columns, free.of(none[free.vertices]).columns)
    sums = own.sums()
    scale = np.divide(room, sums, out=np.zeros(rows.count), where=sums > 0)[own.vertices]
    return all_entries(rows.count, own._replace(weights=own.weights * scale).columns, kept.columns)
