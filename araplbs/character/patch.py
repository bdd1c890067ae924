"""Cuts out the part of the meshes around new vertices, so the cost of a solve depends on the number
of new vertices.

The energy of a vertex depends on the rotations of its neighbors, and these rotations depend on the
neighbors' own neighbors. The edge weights depend on the adjacent faces. With RINGS rings around the
new vertices, every term that depends on the new weights is the same as in the whole mesh. The
vertices of the rings are locked. Rings are added until a patch has LEAST vertices, because a
smaller piece of a limb is not sufficient to determine the bones inside.

A disconnected new part is solved together with the nearest surface of any mesh and the rings around
that surface. The link follows the rule of csrc/mesh/links.c, but with the nearest vertices instead
of the nearest triangles. The engine's rule depends on the mesh size, and a patch has a different
size.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..base.arrays import Bools, Floats, Integers, components
from ..base.extent import size_of, triangle_normals, vertex_sums
from ..model.edits import Edits, Pairs
from ..model.sparse_weights import SparseWeights, make_sparse_weights
from .mesh import Mesh
from .problem import plain_geometry

RINGS = 3
LEAST = 600
SAME_PLACE = 1e-6  # share of the size of all meshes; vertices within this distance coincide
PAIRS_AT_ONCE = 4_000_000  # distances in memory at a time
FAR, TOUCHING, LAYERED = 0.05, 0.02, 0.1  # as in csrc/mesh/links.c


@dataclass
class Patch:
    """The part of one mesh to solve."""

    mesh: Mesh  # contains only these vertices; all except the new ones are locked
    vertices: np.ndarray  # (k,) in the whole mesh, ascending
    new: np.ndarray  # (k,) bool

    def in_whole(self, rows: SparseWeights, count: int) -> tuple[SparseWeights, Bools]:
        """Returns (the rows of the patch as those of the whole mesh, which has `count` vertices;
        (count,) bool: the new vertices)."""
        new = np.zeros(count, bool)
        new[self.vertices[self.new]] = True
        owners = self.vertices[rows.vertices]
        return make_sparse_weights(count, owners, rows.bones, rows.weights), new


def cut_patches(
    meshes: Sequence[Mesh], new: Sequence[Bools], link_parts: bool = True
) -> tuple[list[Patch | None], Integers]:
    """Returns ([Patch for each Mesh, None if it is not affected], links (e, 2)).

    meshes: with their weights. new: (n,) bool for each. links: pairs of vertices of the
    concatenated meshes, each between a new part and the surface it sits on; the energy includes
    them as edges.
    """
    whole, fresh = JoinedMeshes(meshes), np.concatenate(new)
    weighted = ~fresh & (np.concatenate([mesh.weights.sums() for mesh in meshes]) > 0)
    near = whole.grow(fresh, RINGS)
    links: Integers = np.zeros((0, 2), np.int64)
    loose = np.flatnonzero(whole.loose(fresh, weighted))
    if len(loose) and weighted.any():
        nearest, distances = nearest_of(whole.points, loose, np.flatnonzero(weighted))
        beside = np.zeros(len(fresh), bool)
        beside[nearest] = True
        near |= whole.grow(beside, RINGS)
        if link_parts:
            links = whole.links(loose, nearest, distances)
    near = whole.fill_up(near)
    patches = [
        _cut(mesh, near[first:end], fresh[first:end], whole.twins[first:end] - first)
        for mesh, first, end in zip(meshes, whole.first[:-1], whole.first[1:], strict=True)
    ]
    return patches, links


def patch_links(
    links: Integers, patches: Sequence[Patch | None], sizes: Sequence[int], first: Iterable[int]
) -> Integers:
    """The links (e, 2) of cut_patches(), with vertices as indices in the problem that the patches
    form. patches: one for each mesh, including None; sizes: the vertex counts of the meshes; first:
    the first vertex of each patch in the problem."""
    to, starts = np.full(sum(sizes), -1), iter(first)
    for begin, patch in zip(np.cumsum([0, *sizes[:-1]]), patches, strict=True):
        if patch:
            to[begin + patch.vertices] = next(starts) + np.arange(len(patch.vertices))
    return to[links]


class JoinedMeshes:
    """All meshes in armature space, with coincident vertices merged."""

    def __init__(self, meshes: Sequence[Mesh]) -> None:
        self.first = np.cumsum([0] + [len(m.vertices) for m in meshes])
        self.points, triangles, edges = plain_geometry(meshes).values()
        self.triangles = triangles.astype(np.int64)
        self.size = size_of(self.points, self.triangles, edges) or 1.0
        cells = np.round(self.points / (SAME_PLACE * self.size))
        _cells, firsts, place = np.unique(cells, axis=0, return_index=True, return_inverse=True)
        self.place = place.reshape(-1)
        self.twins = firsts[self.place]  # (n,) the first vertex at the position of each vertex
        self.places = len(firsts)
        links = [m.edits.links + first for m, first in zip(meshes, self.first[:-1], strict=True)]
        self.faces = self.place[self.triangles].reshape(-1, 3)
        pairs = self.place[np.concatenate([edges, *links]).astype(np.int64)].reshape(-1, 2)
        self.edges = np.concatenate([self.faces[:, :2], self.faces[:, 1:], pairs])

    def grow(self, vertices: Bools, rings: int) -> Bools:
        """Returns (n,) bool: these vertices (bool) and `rings` rings around them."""
        near = np.zeros(self.places, bool)
        near[self.place[vertices]] = True
        for _ in range(rings):
            more = near.copy()
            for cells in (self.faces, self.edges):
                more[cells[near[cells].any(1)]] = True
            near = more
        return near[self.place]

    def parts(self) -> Integers:
        """Labels (n,) that are equal for vertices connected by faces and edges."""
        return components(self.places, self.edges)[self.place]

    def fill_up(self, near: Bools) -> Bools:
        """Returns (n,) bool: these vertices and the rings around them, up to at least LEAST
        vertices if the surface has that many."""
        while (before := np.count_nonzero(near)) < LEAST:
            near = self.grow(near, 1)
            if np.count_nonzero(near) == before:
                break
        return near

    def loose(self, new: Bools, weighted: Bools) -> Bools:
        """Returns (n,) bool: new vertices from which no path over new vertices leads to a weighted
        vertex."""
        is_new, reached = np.zeros((2, self.places), bool)
        is_new[self.place[new]] = True
        reached[self.place[weighted]] = True
        edges = self.edges[is_new[self.edges].any(1)]
        parts = components(self.places, edges[is_new[edges].all(1)])
        held = np.zeros(self.places, bool)
        held[parts[edges[reached[edges].any(1)]]] = True  # also fully weighted parts
        held[parts[reached]] = True
        return new & ~held[parts[self.place]]

    def links(self, loose: Integers, nearest: Integers, distances: Floats) -> Integers:
        """Links (e, 2) from these vertices to the nearest ones."""
        own = np.zeros(self.places, bool)
        own[self.place[loose]] = True
        parts = components(self.places, self.edges[own[self.edges].all(1)])[self.place[loose]]
        normals = self._normals()
        alike = (normals[loose] * normals[nearest]).sum(1) > 0
        found = []
        for part in np.unique(parts):
            which = np.flatnonzero(parts == part)
            if distances[which].min() > FAR * self.size:
                continue
            points = self.points[loose[which]]
            size = 2 * np.linalg.norm(points - points.mean(0), axis=1).max()
            beyond = distances[which] - distances[which].min()
            sits = (beyond <= TOUCHING * size) | ((beyond <= LAYERED * size) & alike[which])
            found.append(which[sits])
        linked = np.concatenate([np.zeros(0, np.int64), *found])
        return np.column_stack([loose[linked], nearest[linked]])

    def _normals(self) -> Floats:
        """Area-weighted normals (n, 3), not normalized."""
        normals = triangle_normals(self.points, self.triangles)
        return vertex_sums(self.faces, normals, self.places)[self.place]


def nearest_of(points: Floats, of: Integers, among: Integers) -> tuple[Integers, Floats]:
    """Returns (vertices of `among` nearest to each of `of`, their distances)."""
    nearest, distances = np.empty(len(of), np.int64), np.empty(len(of))
    middle = points[among].mean(0)  # far from the origin, squares would lose digits
    targets = points[among] - middle
    squares = (targets**2).sum(1)
    step = max(PAIRS_AT_ONCE // len(among), 1)
    for begin in range(0, len(of), step):
        some = slice(begin, begin + step)
        at = (squares - 2 * (points[of[some]] - middle) @ targets.T).argmin(1)
        nearest[some] = among[at]
        distances[some] = np.linalg.norm(points[of[some]] - points[among[at]], axis=1)
    return nearest, distances


def _cut(mesh: Mesh, near: Bools, new: Bools, twins: Integers) -> Patch | None:
    if not near.any():
        return None
    vertices = np.flatnonzero(near)
    to = np.full(len(near), -1)
    to[vertices] = np.arange(len(vertices))
    rows = mesh.weights
    keep = ~new[rows.vertices]
    if mesh.locked_bones is not None:
        keep |= mesh.locked_bones[rows.bones]
    same = np.where(twins >= 0, twins, np.arange(len(near)))  # twins of other meshes: unchanged
    part = replace(
        mesh,
        vertices=mesh.vertices[same[vertices]],
        triangles=_within(to, mesh.triangles),
        edges=_within(to, mesh.edges),
        weights=rows.of(keep).of_vertices(vertices),
        locked_vertices=~new[vertices],
        edits=_edits(mesh.edits, near, to),
        doubles=_of_patch(mesh.doubles, near, to),
    )
    return Patch(part, vertices, new[vertices])


def _within(to: Integers, cells: Integers) -> Integers:
    cells = to[cells]
    return cells[(cells >= 0).all(1)]


def _of_patch(pairs: Pairs, near: Bools, to: Integers) -> Pairs:
    pairs = pairs.of(near[pairs.vertices])
    return replace(pairs, vertices=to[pairs.vertices])


def _edits(edits: Edits, near: Bools, to: Integers) -> Edits:
    def own(pairs: Pairs) -> Pairs:
        return _of_patch(pairs, near, to)

    rigid = [to[part[near[part]]] for part in edits.rigid]
    return Edits(
        constraints=own(edits.constraints),
        influences=own(edits.influences),
        released=own(edits.released),
        smoothed=own(edits.smoothed),
        links=_within(to, edits.links),
        rigid=[part for part in rigid if len(part)],
    )
