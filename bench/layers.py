"""Measures clothes and other layers: the vertices that lie on another part of the mesh, and whether
they end up below it in poses. This file depends neither on an energy nor on araplbs.

A part consists of vertices connected by triangles, with corners at the same position counted as
one. A vertex lies on another part if, at rest, it is within NEAR of that part, is on its outer side
and faces the same way, and if the nearest point is not on an open border, where a surface has no
side. If there are several such parts, the vertex lies on the nearest one: a coat on the vest, the
vest on the skin. A vertex lies under another part if the same conditions hold on the inner side of
that part.

In a pose, the vertex is compared with the triangles around the one that was nearest at rest, so
other limbs that pass through do not count. A vertex that lies on the part at rest has ended below
if it is more than DEPTH behind the part. A vertex that lies under the part at rest has come through
if it is as far in front of the part."""

from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from araplbs.base.arrays import ranges
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

NEAR, ON, DEPTH = 0.02, 1e-4, 1e-4  # shares of the diagonal
SAME_PLACE = 1e-6  # of the size: corners that are nearer are one
MANY = 2_000_000  # pairs of points and triangles looked at together


def places(points):
    """(n,) a number for each vertex, equal for coincident vertices."""
    cells = np.round(points / max(SAME_PLACE * np.ptp(points, axis=0).max(), 1e-300))
    return np.unique(cells, axis=0, return_inverse=True)[1].ravel()


def loose_parts(points, triangles):
    """(n,) the loose part of each vertex; coincident corners connect faces."""
    place = places(points)
    i, j = place[triangles[:, :2]].ravel(), place[triangles[:, 1:]].ravel()
    graph = sp.csr_matrix((np.ones(len(i)), (i, j)), (place.max() + 1,) * 2)
    return connected_components(graph, directed=False)[1][place]


def vertex_normals(vertices, triangles, places):
    """(n, 3) unit normals; coincident vertices have the same normal."""
    corners = places[triangles]
    a, b, c = vertices[triangles].swapaxes(0, 1)
    flat = np.cross(b - a, c - a)
    sums = [np.bincount(corners.ravel(), np.repeat(x, 3), len(vertices)) for x in flat.T]
    normals = np.column_stack(sums)[places]
    return normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)


def nearest_shares(p, a, b, c):
    """(k, 3) barycentric coordinates of the points of triangles that are nearest to p: the nearest
    among the three edges and the interior."""

    def on_edge(x, y):
        way = y - x
        return np.clip(((p - x) * way).sum(1) / np.maximum((way * way).sum(1), 1e-300), 0, 1)

    n = len(p)
    ab, ac, ap = b - a, c - a, p - a
    d00, d01, d11 = (ab * ab).sum(1), (ab * ac).sum(1), (ac * ac).sum(1)
    d20, d21 = (ap * ab).sum(1), (ap * ac).sum(1)
    area2 = d00 * d11 - d01 * d01
    safe = np.where(area2 > 1e-300, area2, 1)
    v, w = (d11 * d20 - d01 * d21) / safe, (d00 * d21 - d01 * d20) / safe
    inside = (area2 > 1e-300) & (v >= 0) & (w >= 0) & (v + w <= 1)
    best = np.column_stack([1 - v - w, v, w])
    distance = np.where(inside, 0, np.inf)
    for first, second, at in ((0, 1, on_edge(a, b)), (1, 2, on_edge(b, c)), (2, 0, on_edge(c, a))):
        shares = np.zeros((n, 3))
        shares[:, first], shares[:, second] = 1 - at, at
        off = p - (shares[:, :1] * a + shares[:, 1:2] * b + shares[:, 2:] * c)
        far = (off * off).sum(1)
        nearer = far < distance
        nearer &= ~inside
        best[nearer], distance = shares[nearer], np.where(nearer, far, distance)
    return best


def near_pairs(vertices, triangles, points, reach):
    """Yields (points, triangles) in batches: all pairs within reach, and some others, with all
    pairs of a point in one batch."""
    corners = vertices[triangles]
    middle = corners.mean(1)
    radius = np.linalg.norm(corners - middle[:, None], axis=2).max(1)
    balls = cKDTree(points).query_ball_point(middle, radius + reach)
    face = np.repeat(np.arange(len(triangles)), [len(ball) for ball in balls])
    point = np.concatenate(balls).astype(int)
    order = np.argsort(point, kind="stable")
    point, face = point[order], face[order]
    starts = np.unique(np.searchsorted(point, point[::MANY]))
    for begin, end in pairwise([*starts, len(point)]):
        yield point[begin:end], face[begin:end]


def open_border(triangles, places):
    """(n,) vertices with an edge of only one triangle."""
    corners = places[triangles]
    edges = np.sort(np.concatenate([corners[:, [0, 1]], corners[:, 1:], corners[:, ::2]]), 1)
    there, counts = np.unique(edges, axis=0, return_counts=True)
    found = np.zeros(len(places), bool)
    found[there[counts == 1]] = True
    return found[places]


class Layers:
    """The vertices of a mesh at rest that lie on another part of it, or under one.

    vertex (k,): ascending, those on others first. foot (k,): the nearest triangle of the part that
    each lies on, or under. count: how many lie on one."""

    def __init__(self, vertices, triangles, near=NEAR):
        size = np.linalg.norm(np.ptp(vertices, axis=0))
        self.vertices, self.triangles, self.size = vertices, triangles, size
        place = places(vertices)
        self.places = np.unique(place, return_index=True)[1][place]  # the first vertex there
        self.part = loose_parts(vertices, triangles)
        self.vertex, self.foot, self.count = np.zeros(0, int), np.zeros(0, int), 0
        if len(np.unique(self.part[triangles[:, 0]])) > 1:
            self.find(near * size)
        self.around()

    def find(self, reach):
        vertices, triangles = self.vertices, self.triangles
        used = np.unique(triangles)
        used = used[self.places[used] == used]
        part_of_face = self.part[triangles[:, 0]]
        normals = vertex_normals(vertices, triangles, self.places)
        border = open_border(triangles, self.places)
        found = []
        for points, faces in near_pairs(vertices, triangles, vertices[used], reach):
            points = used[points]
            other = part_of_face[faces] != self.part[points]
            points, faces = points[other], faces[other]
            corners = triangles[faces]
            shares = nearest_shares(vertices[points], *vertices[corners].swapaxes(0, 1))
            off = vertices[points] - np.einsum("kc,kcx->kx", shares, vertices[corners])
            distance = np.linalg.norm(off, axis=1)
            close = distance <= reach
            points, faces, shares, off, distance = (
                each[close] for each in (points, faces, shares, off, distance)
            )
            order = np.lexsort((distance, part_of_face[faces], points))
            points, faces, shares, off, distance = (
                each[order] for each in (points, faces, shares, off, distance)
            )
            key = points * len(vertices) + part_of_face[faces]
            first = np.flatnonzero(np.diff(key, prepend=-1))
            points, faces, shares, off = (each[first] for each in (points, faces, shares, off))
            corners = triangles[faces]
            normal = np.einsum("kc,kcx->kx", shares, normals[corners])
            on_border = (border[corners] | (shares < 1e-9)).all(1) & (shares < 1e-9).any(1)
            height = (off * normal).sum(1) / np.maximum(np.linalg.norm(normal, axis=1), 1e-30)
            alike = (normal * normals[points]).sum(1) > 0
            for side in (1, -1):
                kept = np.flatnonzero((side * height > ON * self.size) & alike & ~on_border)
                kept = kept[np.lexsort((np.linalg.norm(off[kept], axis=1), points[kept]))]
                kept = kept[np.flatnonzero(np.diff(points[kept], prepend=-1))]
                found.append((side, points[kept], faces[kept]))
        sides = [[each[1:] for each in found if each[0] == side] for side in (1, -1)]
        self.count = sum(len(points) for points, _ in sides[0])
        if found:
            both = zip(*sides[0], *sides[1], strict=True)
            self.vertex, self.foot = (np.concatenate(each) for each in both)

    def around(self):
        """The triangles that share a corner with each foot: pairs, by vertex."""
        corners = self.places[self.triangles]
        order = np.argsort(corners.ravel(), kind="stable")
        start = np.searchsorted(corners.ravel()[order], np.arange(len(self.vertices) + 1))
        feet = corners[self.foot].ravel()
        sizes = np.diff(start)[feet]
        owner = np.repeat(np.repeat(np.arange(len(self.vertex)), 3), sizes)
        near = order[ranges(start[feet], sizes)] // 3
        pairs = np.unique(owner.astype(np.int64) * max(len(self.triangles), 1) + near)
        self.owner, self.near = np.divmod(pairs, max(len(self.triangles), 1))

    def heights(self, posed):
        """(k,) the height of each vertex above the surface on which it lies, negative below."""
        normals = vertex_normals(posed, self.triangles, self.places)
        corners = self.triangles[self.near]
        points = posed[self.vertex[self.owner]]
        shares = nearest_shares(points, *posed[corners].swapaxes(0, 1))
        off = points - np.einsum("kc,kcx->kx", shares, posed[corners])
        distance = np.linalg.norm(off, axis=1)
        order = np.lexsort((distance, self.owner))
        first = order[np.flatnonzero(np.diff(self.owner[order], prepend=-1))]
        normal = np.einsum("kc,kcx->kx", shares[first], normals[corners[first]])
        side = np.sign((off[first] * normal).sum(1))
        return side * distance[first]

    def crossed(self, posed):
        """(share of vertices on other parts that end up below, share of vertices under other parts
        that come through)."""
        heights = self.heights(posed) / self.size
        above, under = heights[: self.count], heights[self.count :]
        return tuple(
            float(each.mean()) if len(each) else np.nan for each in (above < -DEPTH, under > DEPTH)
        )
