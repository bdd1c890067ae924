"""Finds triangles of a mesh that intersect each other.

Triangles with a corner in common, or with corners at the same position, are neighbors and are not
tested. Triangles that already intersect at rest, as often in clothes, are not counted in a pose,
because the weights are not the cause. The cost is about one sort of the triangles for each pose,
and a test for each pair of overlapping boxes."""

import numpy as np
from araplbs.base.arrays import ranges
from layers import places

MOST_CELLS = 8  # to a triangle, of the cells in which pairs are looked for


def near_pairs(corners):
    """(k, 2) pairs i < j of triangles (t, 3, 3) whose boxes overlap, each listed once."""
    low, high = corners.min(1), corners.max(1)
    sizes = (high - low).max(1)
    size = max(float(np.percentile(sizes, 20)), 1e-6 * float(sizes.max()), 1e-300)
    counts = np.full(len(corners), np.inf)
    while counts.sum() > MOST_CELLS * len(corners):
        size *= 1.5
        first, last = (np.floor((at - low.min(0)) / size).astype(np.int64) for at in (low, high))
        wide = last - first + 1
        counts = wide.prod(1)
    owner = np.repeat(np.arange(len(corners)), counts)
    at = ranges(np.zeros_like(counts), counts)
    x, rest = np.divmod(at, (wide[:, 1] * wide[:, 2])[owner])
    y, z = np.divmod(rest, wide[owner, 2])
    cell = first[owner] + np.column_stack([x, y, z])
    across = last.max(0) + 1
    key = (cell[:, 0] * across[1] + cell[:, 1]) * across[2] + cell[:, 2]
    order = np.argsort(key, kind="stable")
    owner, key, cell = owner[order], key[order], cell[order]
    found, step = [np.zeros((0, 2), np.int64)], 1
    left = np.arange(len(key))
    while len(left := left[left + step < len(key)]):
        left = left[key[left] == key[left + step]]
        i, j = owner[left], owner[left + step]
        overlap = (low[i] <= high[j]).all(1) & (low[j] <= high[i]).all(1)
        # Both triangles are in several cells; the first cell that contains both counts.
        once = (np.maximum(first[i], first[j]) == cell[left]).all(1)
        found.append(np.column_stack([i, j])[overlap & once])
        step += 1
    return np.concatenate(found)


def _volume(a, b, c, d):
    """(k,) six times the signed volume of tetrahedra."""
    return (np.cross(b - a, c - a) * (d - a)).sum(1)


def heights(one, other):
    """(k, 3) heights of the corners of one triangle over the plane of the other, times twice its
    area."""
    normal = np.cross(other[:, 1] - other[:, 0], other[:, 2] - other[:, 0])
    return np.einsum("kci,ki->kc", one - other[:, :1], normal)


def cross(one, other):
    """(k,) bool: whether an edge of either of two triangles (k, 3, 3) passes through the other."""
    found = np.zeros(len(one), bool)
    above = heights(one, other), heights(other, one)
    meet = np.ones(len(one), bool)
    for each in above:  # an edge on one side of the other triangle's plane does not cross it
        meet &= (each.min(1) < 0) & (each.max(1) > 0)
    kept = np.flatnonzero(meet)
    one, other, above = one[kept], other[kept], [each[kept] for each in above]
    for (edges, faces), height in zip(((one, other), (other, one)), above, strict=True):
        a, b, c = faces.swapaxes(0, 1)
        for k in range(3):
            p, q = edges[:, k], edges[:, (k + 1) % 3]
            through = height[:, k] * height[:, (k + 1) % 3] < 0
            sides = np.sign([_volume(p, q, *side) for side in ((a, b), (b, c), (c, a))])
            found[kept] |= through & (np.abs(sides.sum(0)) == 3)
    return found


class Crossings:
    """Triangles of a mesh that intersect in a pose but not at rest."""

    def __init__(self, points, triangles):
        self.triangles, self.places = triangles, places(points)[triangles]
        a, b, c = points[triangles].swapaxes(0, 1)
        self.area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
        self.at_rest = np.sort(self._keys(points))

    def _keys(self, points):
        """(k,) a number for each pair of intersecting triangles."""
        corners = points[self.triangles]
        pairs = near_pairs(corners)
        i, j = self.places[pairs].swapaxes(0, 1)
        apart = (i[:, :, None] != j[:, None, :]).all((1, 2))
        pairs = pairs[apart]
        pairs = np.sort(pairs[cross(corners[pairs[:, 0]], corners[pairs[:, 1]])], axis=1)
        return pairs[:, 0] * len(self.triangles) + pairs[:, 1]

    def share(self, points):
        """The share of the area at rest of triangles that intersect others in the pose but not at
        rest."""
        keys = self._keys(points)
        keys = keys[~np.isin(keys, self.at_rest)]
        found = np.unique(np.concatenate(np.divmod(keys, len(self.triangles))))
        return float(self.area[found].sum() / max(self.area.sum(), 1e-300))
