"""Measures the size of an object without its far vertices. Also detects vertices that are so far
away or so close together that the object's size is probably wrong.

This file implements the rule of csrc/mesh/extent.c for vertices far from all other points, which
the engine reports as `far_vertices`. The function far_from_bones() detects vertices far from all
bones, which may be whole objects.
"""

from __future__ import annotations

import numpy as np

from .arrays import Bools, Floats, Integers

FENCE = 50  # multiple of the bounding box of all points except the outermost ones
SHARE = 200  # one in this many on either side of each axis is outermost, at least one
LEAST = 4  # points: smaller sets have no outliers
FAR_FROM_BONES = 20.0  # multiple of the size of the skeleton or the mesh, whichever is larger
TAKEN_AS_ONE = 0.5  # share of the vertices: a smaller share can come from seams with small gaps


def not_far_off(points: Floats) -> Bools:
    """Returns (n,) bool: the points (n, 3) that are not outliers."""
    n = len(points)
    if n < LEAST:
        return np.ones(n, bool)
    outermost = max(1, n // SHARE)
    if _is_even(points, outermost):
        return np.ones(n, bool)
    low, high = np.partition(points, (outermost, n - 1 - outermost), axis=0)[
        [outermost, n - 1 - outermost]
    ]
    margin = FENCE * float(np.linalg.norm((high - low).astype(float)))
    if not margin > 0:  # most points coincide
        return np.ones(n, bool)
    return ((points >= low - margin) & (points <= high + margin)).all(axis=1)


def _is_even(points: Floats, outermost: int) -> bool:
    """Whether at least this many points lie in the outer thirds of the bounding box along one of
    its longest axes. In that case, no point is an outlier."""
    columns = np.ascontiguousarray(points.T)
    low, high = columns.min(axis=1), columns.max(axis=1)
    size = high - low
    axis = int(np.argmax(size))
    column, third = columns[axis], size[axis] / 3
    return bool(
        third > 0
        and np.count_nonzero(column <= low[axis] + third) > outermost
        and np.count_nonzero(column >= high[axis] - third) > outermost
    )


def size_of(points: Floats) -> float:
    """The diagonal of the bounding box of the points (n, 3) without outliers."""
    inside = np.ascontiguousarray(points[not_far_off(points)].T)
    return float(np.linalg.norm(inside.max(axis=1) - inside.min(axis=1)))


def far_from_bones(vertices: Floats, heads: Floats, tails: Floats) -> Integers:
    """Indices of the vertices (n, 3) that are far from the bounding box of these bones."""
    ends = np.concatenate([heads, tails])
    low, high = ends.min(axis=0), ends.max(axis=0)
    columns = np.ascontiguousarray(vertices.T)
    most = np.maximum(0, np.maximum(low - columns.min(axis=1), columns.max(axis=1) - high))
    if np.linalg.norm(most) <= FAR_FROM_BONES * np.linalg.norm(high - low):
        return np.zeros(0, int)
    beside = np.linalg.norm(np.maximum(0, np.maximum(low - vertices, vertices - high)), axis=1)
    # The size without far vertices is measured on the mesh without its outermost vertices.
    inner = np.percentile(vertices, (5, 95), axis=0)
    size = max(np.linalg.norm(high - low), np.linalg.norm(inner[1] - inner[0]))
    return np.flatnonzero(beside > FAR_FROM_BONES * size)


def taken_as_one(vertices: Floats, welded: int) -> int:
    """The number of vertices (n, 3) that were welded to vertices at other positions; 0 unless they
    are a large share of all welded vertices."""
    if welded <= TAKEN_AS_ONE * len(vertices):
        return 0
    ordered = vertices[np.lexsort(vertices.T)]
    distinct = 1 + int((ordered[1:] != ordered[:-1]).any(axis=1).sum())
    apart = welded - (len(vertices) - distinct)
    return apart if apart > TAKEN_AS_ONE * len(vertices) else 0


def vertex_areas(points: Floats, triangles: Integers) -> Floats:
    """The area of each vertex, (n,): a third of the area of the triangles around it."""
    a, b, c = points[triangles].swapaxes(0, 1)
    third = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 6
    return np.bincount(triangles.ravel(), np.repeat(third, 3), len(points)).astype(float)
