"""Finds garment vertices that are just above the skin at rest and end below it in poses.

A vertex is compared with the skin triangles around the triangle that is nearest at rest, so
intersections with another limb do not count. This module does not use bpy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...base.arrays import Bools, Floats, Integers, ranges
from ...base.engine import engine
from ...base.extent import vertex_normals
from ...measures.armature_modifier import blend_dense
from ...model.sparse_weights import dense_of, sparse_of
from ...skeleton.skeleton import Skeleton

if TYPE_CHECKING:
    from .source import Source


POSES = 24
SEED = 12  # a seed that the refinement does not use
ON = 1e-4  # share of the size; within this distance, a vertex is neither above nor below
SURELY_ABOVE = 0.5  # cosine between the normal of the skin and the direction to the vertex


class Clearance:
    """The clearance between points off the skin and the skin, in random poses of the skeleton."""

    def __init__(
        self, source: Source, skeleton: Skeleton, points: Floats, threads: int = 0
    ) -> None:
        """source: a Source. points (k, 3). `above` (k,) bool: points above the skin at rest.
        `skin_weights` (k, m): weights of the nearest points of the skin."""
        cells = np.column_stack([source.triangles, source.triangles[:, 2]])
        nearest, shares, _distances = engine.embed(source.vertices, cells, points, threads=threads)
        shares[:, 2] += shares[:, 3]
        corners = source.triangles[nearest]
        used = np.zeros(len(source.vertices), bool)
        used[corners] = True
        around = source.triangles[used[source.triangles].any(1)]
        vertices, self._around = np.unique(around, return_inverse=True)
        self._around = self._around.reshape(-1, 3)
        self._corners = np.searchsorted(vertices, corners)
        self._shares, self._points = shares[:, :3], points
        self._owners, self._near = _rings(self._corners, self._around, len(vertices))
        weights = dense_of(source.rows.of_vertices(vertices), len(skeleton.names))
        weights /= np.maximum(weights.sum(1, keepdims=True), 1e-30)
        self.skin_weights = np.einsum("kc,kcm->km", self._shares, weights[self._corners])
        self._transforms = engine.sample_poses(
            skeleton.heads, skeleton.tails, skeleton.solver_parents, POSES, seed=SEED,
            bone_roll_axes=skeleton.roll_axes, bone_deform=skeleton.deform,
            bone_limits=skeleton.limits,
        )  # fmt: skip
        rest = source.vertices[vertices]
        self._skins = [blend_dense(rest, weights, pose) for pose in self._transforms]
        every = np.arange(len(points))
        self.above = self._heights(every, points, rest, surely=1.0) > ON * source.size

    def poses_below(self, weights: Floats) -> Integers:
        """The number of poses, (k,), in which points with these weights (k, m) are above the skin
        at rest but end below it."""
        which = np.flatnonzero(self.above)
        count = np.zeros(len(self._points), int)
        for pose, posed in zip(self._transforms, self._skins, strict=True):
            moved = blend_dense(self._points[which], weights[which], pose)
            count[which] += self._heights(which, moved, posed, SURELY_ABOVE) < 0
        return count

    def _heights(self, which: Integers, moved: Floats, posed: Floats, surely: float) -> Floats:
        """The heights of the points `which` above the skin. Points that are `surely` above their
        nearest point at rest are not examined further."""
        normals = vertex_normals(posed, self._around)
        corners, shares = self._corners[which], self._shares[which]
        off = moved - np.einsum("kc,kcx->kx", shares, posed[corners])
        normal = np.einsum("kc,kcx->kx", shares, normals[corners])
        height = (off * normal).sum(1)
        length = np.linalg.norm(off, axis=1) * np.linalg.norm(normal, axis=1)
        doubtful = np.flatnonzero(height <= surely * length)
        mine = np.full(len(self._points), -1)
        mine[which[doubtful]] = doubtful
        entries = mine[self._owners] >= 0
        owners, near = mine[self._owners[entries]], self._around[self._near[entries]]
        points = posed[near]
        found = nearest_shares(moved[owners], *points.swapaxes(0, 1))
        off = moved[owners] - (found[..., None] * points).sum(1)
        order = np.lexsort(((off**2).sum(1), owners))
        first = order[np.flatnonzero(np.diff(owners[order], prepend=-1))]
        normal = np.einsum("kc,kcx->kx", found[first], normals[near[first]])
        height[owners[first]] = (off[first] * normal).sum(1)
        return height


class Guard:
    """Finds vertices just above the skin whose weights differ from those of the skin."""

    def __init__(
        self,
        source: Source,
        skeleton: Skeleton,
        vertices: Floats,
        looked_at: Bools,
        most: int,
        threads: int,
    ) -> None:
        """most: influences per vertex, 0 for unlimited."""
        self.vertices = np.flatnonzero(looked_at)
        if not len(self.vertices):
            return
        self.clearance = Clearance(source, skeleton, vertices[self.vertices], threads)
        rows = sparse_of(self.clearance.skin_weights).cut_down(most)
        self.rows = dense_of(rows, len(skeleton.names))
        self.unavoidable = self.clearance.poses_below(self.rows)

    def fallen(self, weights: Floats) -> tuple[Integers, Floats]:
        """Returns (vertices, rows): the vertices that end below the skin more often than they would
        with the skin's weights, and the skin's weights for them."""
        if not len(self.vertices):
            return self.vertices, weights[:0]
        below = self.clearance.poses_below(weights[self.vertices])
        worse = below > self.unavoidable
        return self.vertices[worse], self.rows[worse]


def _rings(corners: Integers, triangles: Integers, count: int) -> tuple[Integers, Integers]:
    """Pairs (points, triangles): all triangles that share a corner with the triangle of a point."""
    order = np.argsort(triangles.ravel(), kind="stable")
    start = np.searchsorted(triangles.ravel()[order], np.arange(count + 1))
    sizes = np.diff(start)[corners.ravel()]
    owners = np.repeat(np.repeat(np.arange(len(corners)), 3), sizes)
    near = order[ranges(start[corners.ravel()], sizes)] // 3
    pairs = np.unique(owners * len(triangles) + near)
    return pairs // len(triangles), pairs % len(triangles)


def nearest_shares(p: Floats, a: Floats, b: Floats, c: Floats) -> Floats:
    """The barycentric coordinates (..., 3) of the points of triangles nearest to p. See Ericson
    5.1.5."""

    def dot(x: Floats, y: Floats) -> Floats:
        return (x * y).sum(-1)

    def safe(x: Floats) -> Floats:
        return np.where(x == 0, 1, x)

    ab, ac = b - a, c - a
    d1, d2, d3, d4, d5, d6 = (dot(side, p - end) for end in (a, b, c) for side in (ab, ac))
    va, vb, vc = d3 * d6 - d5 * d4, d5 * d2 - d1 * d6, d1 * d4 - d3 * d2
    inside = safe(va + vb + vc)
    v, w = vb / inside, vc / inside
    bc, ca, ab = (d4 - d3) / safe(d4 - d3 + d5 - d6), d2 / safe(d2 - d6), d1 / safe(d1 - d3)
    for where, at in (
        ((va <= 0) & (d4 >= d3) & (d5 >= d6), (1 - bc, bc)),
        ((vb <= 0) & (d2 >= 0) & (d6 <= 0), (0, ca)),
        ((vc <= 0) & (d1 >= 0) & (d3 <= 0), (ab, 0)),
        ((d6 >= 0) & (d5 <= d6), (0, 1)),
        ((d3 >= 0) & (d4 <= d3), (1, 0)),
        ((d1 <= 0) & (d2 <= 0), (0, 0)),
    ):
        v, w = np.where(where, at[0], v), np.where(where, at[1], w)
    return np.stack([1 - v - w, v, w], -1)
