"""Measures the size of an object without stray vertices and distant objects. Also detects
vertices that are so far away or so close together that the object's size is probably wrong.

The engine decides what counts (csrc/mesh/extent.c). It reports the vertices far from all other
points as `far_vertices`. The function far_from_bones() detects vertices far from all bones, which
may be whole objects.
"""

from __future__ import annotations

import numpy as np

from .arrays import Floats, Integers
from .engine import engine

FAR_FROM_BONES = 20.0  # multiple of the size of the skeleton or the mesh, whichever is larger
TAKEN_AS_ONE = 0.5  # share of the vertices: a smaller share can come from seams with small gaps


def box_of(
    points: Floats, triangles: Integers | None = None, edges: Integers | None = None
) -> Floats:
    """The bounding box, (2, 3): of a mesh without stray vertices and distant objects, or of
    points without outliers."""
    faces = np.zeros((0, 3), np.int32) if triangles is None else triangles
    return engine.mesh_extent(points, faces, edges=edges)


def sides_of(
    points: Floats, triangles: Integers | None = None, edges: Integers | None = None
) -> Floats:
    """The sides of this bounding box, (3,)."""
    low, high = box_of(points, triangles, edges)
    return high - low


def size_of(
    points: Floats, triangles: Integers | None = None, edges: Integers | None = None
) -> float:
    """The diagonal of this bounding box."""
    return float(np.linalg.norm(sides_of(points, triangles, edges)))


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


def triangle_sides(triangles: Integers) -> Integers:
    """The ends of the sides of triangles, (3f, 2): first sides, then second and third ones."""
    return np.concatenate([triangles[:, pair] for pair in ([0, 1], [1, 2], [2, 0])])


def triangle_normals(points: Floats, triangles: Integers) -> Floats:
    """A normal of each triangle, (f, 3), whose length is twice the area."""
    a, b, c = points[triangles].swapaxes(0, 1)
    return np.cross(b - a, c - a)


def triangle_areas(points: Floats, triangles: Integers) -> Floats:
    """The area of each triangle, (f,)."""
    areas: Floats = np.linalg.norm(triangle_normals(points, triangles), axis=1) / 2
    return areas


def vertex_areas(points: Floats, triangles: Integers) -> Floats:
    """The area of each vertex, (n,): a third of the area of the triangles around it."""
    third = triangle_areas(points, triangles) / 3
    return vertex_sums(triangles, third[:, None], len(points))[:, 0]


def vertex_sums(triangles: Integers, values: Floats, count: int) -> Floats:
    """The sums, (count, k), of the values (f, k) of the triangles around each vertex."""
    corners = triangles.ravel()
    return np.stack(
        [np.bincount(corners, np.repeat(column, 3), count) for column in values.T], axis=1
    )


def vertex_normals(points: Floats, triangles: Integers) -> Floats:
    """Unit vertex normals (n, 3), or 0 without a triangle."""
    normals = vertex_sums(triangles, triangle_normals(points, triangles), len(points))
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    return normals / np.where(lengths > 0, lengths, 1)
