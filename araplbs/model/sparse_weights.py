"""Defines sparse weights, the row format that araplbs accepts and returns, and operations on
them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..base.arrays import Bools, Floats, Integers, found_in, ranges, ranks


class SparseWeights(NamedTuple):
    """The weights of n vertices. The entries of vertex i are at start[i]:start[i + 1], with bones
    ascending."""

    start: np.ndarray  # (n + 1,) int64
    bones: np.ndarray  # (entries,) int32
    weights: np.ndarray  # (entries,) float64

    @property
    def count(self) -> int:  # type: ignore[override]
        return len(self.start) - 1

    @property
    def vertices(self) -> Integers:
        """The vertex of each entry, (entries,)."""
        return np.repeat(np.arange(self.count), np.diff(self.start))

    @property
    def columns(self) -> tuple[Integers, Integers, Floats]:
        """The entries as (vertices, bones, weights)."""
        return self.vertices, self.bones, self.weights

    def sums(self) -> Floats:
        """The sum of the weights of each vertex, (n,)."""
        # NumPy's stubs declare integers, even with weights.
        return np.bincount(self.vertices, self.weights, self.count)  # type: ignore[return-value]

    def normalized(self) -> SparseWeights:
        """The weights, scaled to sum to 1 at each vertex that has any."""
        sums = self.sums()
        return self._replace(weights=self.weights / np.where(sums > 0, sums, 1)[self.vertices])

    def leaders(self) -> tuple[Integers, Integers]:
        """Returns (vertices with weights, the bone with the largest weight of each such vertex). Of
        equal weights, the last one counts."""
        weighted = np.flatnonzero(np.diff(self.start))
        begins, entries = self.start[weighted], len(self.weights)
        if not entries:
            return weighted, weighted
        largest = np.maximum.reduceat(self.weights, begins)
        leads = self.weights == np.repeat(largest, np.diff(self.start)[weighted])
        return weighted, self.bones[np.maximum.reduceat(leads * np.arange(entries), begins)]

    def ranks(self) -> Integers:
        """The rank of each entry among those of its vertex, (entries,), the largest weight first.
        Equal weights keep their order."""
        return ranks(self.vertices, -self.weights)

    def cut_down(self, most: int, locked: Bools | None = None) -> SparseWeights:
        """Keeps the `most` largest weights of each vertex, 0 for all. Locked entries (bool) also
        stay. The other kept entries are scaled so that the vertex keeps its sum. Equal weights are
        kept or removed together."""
        if not most:
            return self
        locked = np.zeros(len(self.bones), bool) if locked is None else locked
        vertices = self.vertices
        rank = ranks(vertices, locked, -self.weights)
        cut = np.zeros(self.count)  # the largest excess weight of each vertex
        first_out = ~locked & (rank == most)
        cut[vertices[first_out]] = self.weights[first_out]
        stays = ~locked & (rank < most) & (self.weights > cut[vertices])
        none_stays = np.bincount(vertices[stays], minlength=self.count) == 0
        keep = locked | stays | (~locked & (rank < most) & none_stays[vertices])
        if keep.all():
            return self
        sums = np.bincount(vertices, self.weights * ~locked, self.count)
        left = np.bincount(vertices, self.weights * (keep & ~locked), self.count)
        scale = np.where(left > 0, sums / np.where(left > 0, left, 1), 1)[vertices]
        weights = np.where(locked, self.weights, self.weights * scale)
        return self._replace(weights=weights).of(keep)

    def _keys(self, other: SparseWeights) -> tuple[Integers, Integers]:
        """A number for the vertex and the bone of each entry of both, ascending."""
        width = int(max(self.bones.max(initial=0), other.bones.max(initial=0))) + 1
        one, two = (rows.vertices * width + rows.bones for rows in (self, other))
        return one, two

    def kept_from(self, other: SparseWeights) -> Bools:
        """Returns (entries,) bool: the entries that `other` has with exactly the same weight."""
        places, kept = found_in(*self._keys(other))
        kept[kept] = other.weights[places[kept]] == self.weights[kept]
        return kept

    def differences(self, other: SparseWeights) -> tuple[Integers, Floats]:
        """Returns (vertex, absolute difference) for all pairs of a vertex and a bone with a weight
        in one of the two."""
        keys, weights = np.concatenate(self._keys(other)), np.append(self.weights, -other.weights)
        _keys, first, place = np.unique(keys, return_index=True, return_inverse=True)
        vertices = np.append(self.vertices, other.vertices)[first]
        return vertices, np.abs(np.bincount(place.ravel(), weights, len(first)))

    def of_vertices(self, vertices: Integers) -> SparseWeights:
        """The rows of these vertices (k,), in their order."""
        counts = np.diff(self.start)[vertices]
        entries = ranges(self.start[vertices], counts)
        start = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        return SparseWeights(start, self.bones[entries], self.weights[entries])

    def of(self, entries: Bools) -> SparseWeights:
        """These entries, (entries,) bool."""
        counts = np.concatenate([[0], np.cumsum(entries, dtype=np.int64)])
        return SparseWeights(counts[self.start], self.bones[entries], self.weights[entries])

    def differs_from(self, other: SparseWeights) -> Bools:
        """Returns (n,) bool: the vertices whose rows are not exactly the same."""
        same = np.bincount(self.vertices, self.kept_from(other), self.count)
        return (same != np.diff(self.start)) | (same != np.diff(other.start))

    def of_bones(self, bones: Bools) -> SparseWeights:
        """The entries of these bones (m,) bool."""
        return self.of(bones[self.bones])

    def slice(self, begin: int, end: int) -> SparseWeights:
        """The rows from begin to end-1."""
        first, last = self.start[begin], self.start[end]
        return SparseWeights(
            self.start[begin : end + 1] - first, self.bones[first:last], self.weights[first:last]
        )


def make_sparse_weights(
    count: int, vertices: Integers, bones: Integers, weights: Floats
) -> SparseWeights:
    """Builds SparseWeights of `count` vertices from entries (vertices, bones, weights) in any
    order."""
    order = np.lexsort((bones, vertices))
    start = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(vertices, minlength=count), out=start[1:])
    return SparseWeights(
        start,
        np.ascontiguousarray(bones[order], np.int32),
        np.ascontiguousarray(weights[order], np.float64),
    )


def join_sparse_weights(parts: Sequence[SparseWeights]) -> SparseWeights:
    """Concatenates the rows of several parts."""
    ends = np.cumsum([0] + [part.start[-1] for part in parts])
    starts = [part.start[:-1] + end for part, end in zip(parts, ends[:-1], strict=True)]
    return SparseWeights(
        np.concatenate([*starts, ends[-1:]]).astype(np.int64),
        np.concatenate([part.bones for part in parts]),
        np.concatenate([part.weights for part in parts]),
    )


def all_entries(count: int, *parts: tuple[Integers, Integers, Floats]) -> SparseWeights:
    """SparseWeights of `count` vertices with all these entries (vertices, bones, weights)."""
    vertices, bones, weights = map(np.concatenate, zip(*parts, strict=True))
    return make_sparse_weights(count, vertices, bones, weights)


def summed_entries(
    count: int, vertices: Integers, bones: Integers, weights: Floats
) -> SparseWeights:
    """SparseWeights of `count` vertices, with the sum of all entries of a vertex and a bone."""
    width = int(bones.max(initial=0)) + 1
    keys, places = np.unique(vertices * np.int64(width) + bones, return_inverse=True)
    sums = np.bincount(places.ravel(), weights, len(keys)).astype(float)
    return make_sparse_weights(count, keys // width, keys % width, sums)


def merged(old: SparseWeights, new: SparseWeights, where: Bools) -> SparseWeights:
    """SparseWeights that are `new` at the vertices in the mask, (n,) bool, and `old` elsewhere."""
    kept, taken = old.of(~where[old.vertices]), new.of(where[new.vertices])
    return all_entries(old.count, kept.columns, taken.columns)


def empty_sparse_weights(count: int) -> SparseWeights:
    return SparseWeights(np.zeros(count + 1, np.int64), np.zeros(0, np.int32), np.zeros(0))


def dense_of(rows: SparseWeights, bones: int) -> Floats:
    """Converts SparseWeights to a dense array (n, bones)."""
    out = np.zeros((rows.count, bones))
    out[rows.vertices, rows.bones] = rows.weights
    return out


def sparse_of(dense: Floats) -> SparseWeights:
    """Builds SparseWeights from the positive entries of a dense array (n, bones)."""
    vertices, bones = np.nonzero(dense > 0)
    return make_sparse_weights(len(dense), vertices, bones, dense[vertices, bones])
