"""Finds faults of generated meshes: shells inside or on other parts, split edges, floating parts
and noise. Meshes without such faults are recognized quickly.

A shell is a part of a mesh that runs along a larger part of the same mesh everywhere. A double
shell lies close to the larger part and covers most of it. An inner shell lies behind the larger
part and is nearly as large. Eyes, teeth, and clothes that leave much of a body bare are not shells.
An edge is split if two boundaries coincide exactly or nearly.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.arrays import Bools, Floats, Integers, components, found_in, ranges
from ..base.engine import engine
from ..base.extent import size_of, triangle_areas, triangle_normals, triangle_sides

if TYPE_CHECKING:
    from .problem import Problem

# Distances as shares of the mesh size.
CLOSE = 0.01  # between a double and the part it lies on
SEAM = 5e-5  # between the sides of a split edge
SAME = 1e-6  # coincident vertices (ARAP_WELD_TOLERANCE)
FREE = 0.05  # between an island and all other parts (FAR in links.c)

MOST = 0.95  # minimum share of the vertices of a shell close to the other part, or behind it
COVERED = 0.6  # minimum share of the vertices of the other part that are close to a double
LEAST_AREA = 0.2  # minimum area of a shell, as a share of the area of the other part
AS_LONG = 0.4  # minimum extent of an inner shell, as a share of that of the other part
LEAST_FACES = 40  # of a shell
SMALL = 0.05  # maximum area of an island, as a share of the area of the mesh
LONG = 3  # multiple of the seam width: shorter edges are ignored
STEEP = np.cos(np.radians(35))  # between neighbors in noise
OPEN = 0.05  # maximum share of one-sided edges in the part around an inner shell
MASK = (1 << 32) - 1
NOISY, LEAST_NOISY = 0.3, 20000  # share of steep edges, and minimum number of faces


@dataclass
class Shell:
    """A shell that is a fault, with its vertices as indices in a problem."""

    kind: str  # DOUBLE or INNER
    mesh: int
    vertices: np.ndarray  # (k,)
    faces: int
    host: np.ndarray  # (f,) triangles of the part it follows


@dataclass
class Split:
    """Pairs of boundary positions that lie on each other, with vertices as indices in a problem."""

    groups: np.ndarray  # (n,) the first vertex at this position, or the vertex itself
    edges: int  # split vertices
    exact: bool  # all coincide


class Surface:
    """The triangles of a Problem, its parts and coincident vertices."""

    def __init__(self, problem: Problem) -> None:
        arguments = problem.arguments
        self._made_of = _geometry(problem)
        self.vertices = np.asarray(arguments["vertices"], float)
        self.triangles = np.asarray(arguments["triangles"], int).reshape(-1, 3)
        self.edges = np.asarray(arguments["edges"], int).reshape(-1, 2)
        self.size = max(size_of(self.vertices, self.triangles, self.edges), 1e-30)
        first = problem.first
        self.mesh = np.repeat(np.arange(len(first) - 1), np.diff(first))

    def is_of(self, problem: Problem) -> bool:
        """Whether the problem still has the arrays from which this was built."""
        return all(a is b for a, b in zip(self._made_of, _geometry(problem), strict=True))

    @cached_property
    def split(self) -> Split | None:
        """The positions where boundaries of one mesh lie on each other; None without any."""
        return _find_split(self)

    @property
    def side_count(self) -> int:
        """The number of edges that belong to faces."""
        return len(_counted(_sides(self.triangles))[0])

    @cached_property
    def parts(self) -> Integers:
        """The part of each vertex, (n,). Parts are connected by triangles, edges, coincident
        vertices and split edges."""
        edges = self.edges
        if self.split:
            own = np.flatnonzero(self.split.groups != np.arange(len(self.vertices)))
            edges = np.vstack([edges, np.column_stack([own, self.split.groups[own]])])
        found: Any = engine.nearest_points(
            self.vertices, self.triangles, self.vertices[:0], edges=edges
        )
        return found[3]

    def is_closed(self, triangles: Integers) -> bool:
        """Whether nearly all edges of these triangles have two adjacent triangles."""
        place = np.arange(len(self.vertices)) if self.split is None else self.split.groups
        _there, counts = _counted(_sides(place[self.triangles[triangles]]))
        return bool((counts == 1).mean() <= OPEN)

    def areas(self) -> Floats:
        return triangle_areas(self.vertices, self.triangles)


def _geometry(problem: Problem) -> list[Any]:
    return [problem.arguments[name] for name in ("vertices", "triangles", "edges")]


def find_shells(surface: Surface, threads: int = 0) -> list[Shell]:
    """The shells of all meshes, each after the part that it follows."""
    triangles = surface.triangles
    if not len(triangles):
        return []
    part = surface.parts
    count = int(part.max()) + 1
    if count == 1:
        return []
    of = part[triangles[:, 0]]
    areas = np.bincount(of, surface.areas(), count)
    faces = np.bincount(of, minlength=count)
    mesh = np.full(count, -1)
    mesh[of] = surface.mesh[triangles[:, 0]]
    largest = np.zeros(int(mesh.max()) + 1)
    np.maximum.at(largest, mesh[mesh >= 0], areas[mesh >= 0])
    able = (faces >= LEAST_FACES) & (areas >= LEAST_AREA**2 * largest[mesh]) & (mesh >= 0)
    order = np.array(sorted(np.flatnonzero(able).tolist(), key=lambda p: (-areas[p], p)), int)
    vertices_of, faces_of = _members(part, order), _members(of, order)
    boxes = np.array([_box(surface.vertices[own]) for own in vertices_of]).reshape(-1, 2, 3)
    low, high = boxes[:, 0] - CLOSE * surface.size, boxes[:, 1] + CLOSE * surface.size
    long, areas, mesh, faces = (
        np.linalg.norm(np.ptp(boxes, axis=1), axis=1),
        *(each[order] for each in (areas, mesh, faces)),
    )
    found: list[Shell] = []
    is_host = np.zeros(len(order), bool)
    for p, own in enumerate(vertices_of):
        points = surface.vertices[own]
        may = is_host & (mesh == mesh[p]) & (areas[p] >= LEAST_AREA * areas)
        may &= (long[p] >= AS_LONG * long) & ((low <= boxes[p, 1]) & (high >= boxes[p, 0])).all(1)
        for q in np.flatnonzero(may):
            outside = ((points < low[q]) | (points > high[q])).any(axis=1)
            if outside.mean() > 1 - MOST:
                continue
            host, there = faces_of[q], surface.vertices[vertices_of[q]]
            kind = _kind(surface, points, there, host, triangles[faces_of[p]], threads)
            if kind:
                found.append(Shell(kind, int(mesh[p]), own, int(faces[p]), host))
                break
        else:
            is_host[p] = True
    return found


def _members(label: Integers, which: Integers) -> list[Integers]:
    """The indices of each of these labels."""
    order = np.argsort(label, kind="stable")
    begin, end = (np.searchsorted(label[order], which, side) for side in ("left", "right"))
    return [order[a:b] for a, b in zip(begin, end, strict=True)]


def _box(points: Floats) -> Floats:
    """The bounding box, (2, 3)."""
    return np.array([points.min(axis=0), points.max(axis=0)])


def _kind(
    surface: Surface,
    points: Floats,
    there: Floats,
    host: Integers,
    own_triangles: Integers,
    threads: int,
) -> str | None:
    """DOUBLE, INNER or None for points and triangles. The data of the other part is in `there` and
    `host`."""
    near = CLOSE * surface.size
    heights = nearest_on(surface, host, points, threads)[2]
    if (np.abs(heights) <= near).mean() >= MOST:
        back = engine.nearest_points(
            surface.vertices,
            own_triangles,
            there,
            radius=np.full(len(there), near),
            threads=threads,
        )[2]
        if np.isfinite(back).mean() >= COVERED:
            return "DOUBLE"
    behind = (heights < near / 10).mean() >= MOST
    return "INNER" if behind and surface.is_closed(host) else None


def nearest_on(surface: Surface, host: Integers, points: Floats, threads: int = 0) -> Any:
    """The result of araplbs.nearest_points for these points and the triangles of the host."""
    return engine.nearest_points(surface.vertices, surface.triangles[host], points, threads=threads)


def _find_split(surface: Surface) -> Split | None:
    vertices, triangles = surface.vertices, surface.triangles
    if not len(triangles):
        return None
    n = len(vertices)
    keys, counts = _counted(_sides_at_rims(triangles, n))
    ends = np.column_stack([keys >> 32, keys & MASK])[counts == 1]
    width = SEAM * surface.size
    ends = ends[np.linalg.norm(vertices[ends[:, 0]] - vertices[ends[:, 1]], axis=1) > LONG * width]
    rim = np.unique(ends)
    if not len(rim):
        return None
    near = _near(vertices[rim], surface.mesh[rim], width)
    place = np.arange(n)
    place[rim] = rim[near]
    placed = place[ends]
    ends, placed = (each[placed[:, 0] != placed[:, 1]] for each in (ends, placed))
    _, inverse, counts = np.unique(_keys(placed), return_inverse=True, return_counts=True)
    twice = counts[inverse.reshape(-1)] > 1
    if not twice.any():
        return None
    kept = np.unique(ends[twice])
    groups = np.arange(n)
    first = np.full(n, n)
    np.minimum.at(first, place[kept], kept)
    groups[kept] = first[place[kept]]
    apart = np.linalg.norm(vertices[groups] - vertices, axis=1).max()
    edges = len(np.unique(_keys(placed[twice])))
    return Split(groups, edges, bool(apart <= SAME * surface.size))


def _keys(pairs: Integers) -> Integers:
    """Keys of edges in either direction, (k,)."""
    return np.minimum(*pairs.T).astype(np.int64) << 32 | np.maximum(*pairs.T)


def _sides(triangles: Integers) -> Integers:
    """Keys of the sides of triangles, (3f,): first sides, then second and third ones."""
    return _keys(triangle_sides(triangles))


def _sides_at_rims(triangles: Integers, n: int) -> Integers:
    """Keys of sides, (k,): those of all edges with one triangle, and few others. If every side that
    leaves a vertex has a side that returns along the same edge, the vertex has no edge with one
    triangle. Each vertex has a number, and the numbers at the other ends of the leaving and the
    returning sides are summed. The two sums are equal in this case and almost never otherwise."""
    number = np.random.default_rng(0).integers(1 << 32, size=n).astype(float)  # sums are exact
    corners = np.ascontiguousarray(triangles.T)
    a, b, c = number[corners]
    at_rim = np.bincount(corners.reshape(-1), np.concatenate([b - c, c - a, a - b]), n) != 0
    at = at_rim[corners]
    sides = [(corners[k], corners[k - 2], at[k] & at[k - 2]) for k in range(3)]
    return np.concatenate([_keys(np.column_stack([p[of], q[of]])) for p, q, of in sides])


def _counted(keys: Integers) -> tuple[Integers, Integers]:
    """Returns (distinct values, ascending, and their counts) by a stable sort, which is the fastest
    one for triangle sides ordered by position."""
    ordered = np.sort(keys, kind="stable")
    first = np.flatnonzero(np.diff(ordered, prepend=ordered[:1] - 1))
    return ordered[first], np.diff(first, append=len(keys))


def _near(points: Floats, mesh: Integers, width: float) -> Integers:
    """For each point, the first point of the same mesh to which a chain of points within a width of
    each other leads, (k,)."""
    cell = np.column_stack([_closed_up(np.floor(own / width)) for own in points.T])
    span = (cell.max(axis=0) + 2).tolist()
    keys = ((mesh * span[0] + cell[:, 0]) * span[1] + cell[:, 1]) * span[2] + cell[:, 2]
    order = np.argsort(keys, kind="stable")
    begin = np.flatnonzero(np.diff(keys[order], prepend=-1))
    cells, sizes = keys[order][begin], np.diff(begin, append=len(keys))
    pairs = [np.zeros((0, 2), int)]
    for step in np.ndindex(3, 3, 3):
        shift = ((step[0] - 1) * span[1] + step[1] - 1) * span[2] + step[2] - 1
        if shift < 0:
            continue
        at, known = found_in(cells + shift, cells)
        own = np.flatnonzero(known & (sizes * sizes[at] > (shift == 0)))
        counts = sizes[own] * sizes[at[own]]
        which = np.repeat(own, counts)
        within = ranges(np.zeros_like(counts), counts)
        a = order[begin[which] + within // sizes[at[which]]]
        b = order[begin[at[which]] + within % sizes[at[which]]]
        x, y, z = (points[a] - points[b]).T
        close = (a != b) & (np.sqrt(x * x + y * y + z * z) <= width)
        pairs.append(np.column_stack([a[close], b[close]]))
    return components(len(points), np.vstack(pairs))


def _closed_up(cells: Floats) -> Integers:
    """Numbers of cells along an axis, from 1: neighbors stay neighbors, and of the empty cells
    between others, which stray vertices make countless, one remains."""
    used, where = np.unique(cells, return_inverse=True)
    steps = np.minimum(np.diff(used, prepend=used[:1] - 1), 2)
    return np.cumsum(steps.astype(np.int64))[where.reshape(-1)]


def find_islands(surface: Surface, threads: int = 0) -> list[tuple[int, Integers, int]]:
    """Returns [(mesh, vertices, count)], one item for each mesh that has parts floating apart from
    all others."""
    triangles = surface.triangles
    if not len(triangles):
        return []
    part = surface.parts
    of = part[triangles[:, 0]]
    areas = np.bincount(of, surface.areas(), int(part.max()) + 1)
    mesh = np.full(len(areas), -1)
    mesh[of] = surface.mesh[triangles[:, 0]]
    whole = np.bincount(mesh[mesh >= 0], areas[mesh >= 0])
    small = np.flatnonzero((mesh >= 0) & (areas > 0) & (areas < SMALL * whole[mesh]))
    tied = np.ones(len(areas), bool)
    tied[small] = False
    apart, last = FREE * surface.size, tied[of]
    while not tied[small].all() and last.any():
        asked = np.flatnonzero(~tied[part] & np.isin(part, small))
        heights = engine.nearest_points(
            surface.vertices, triangles[last],
            surface.vertices[asked], radius=np.full(len(asked), apart), threads=threads,
        )[2]  # fmt: skip
        new = np.unique(part[asked[np.isfinite(heights)]])
        if not len(new):
            break
        tied[new] = True
        last = np.isin(of, new)
    free = [p for p in small.tolist() if not tied[p]]
    found: list[tuple[int, Integers, int]] = []
    for number in sorted({int(mesh[p]) for p in free}):
        own = [p for p in free if mesh[p] == number]
        found.append((number, np.flatnonzero(np.isin(part, own)), len(own)))
    return found


def noise(surface: Surface, mesh: int) -> tuple[float, int]:
    """Returns (share of the edges between two faces of a mesh at which the surface bends steeply,
    faces). A large share means that the whole mesh is rough. The share is 0 for meshes with few
    faces."""
    triangles = surface.triangles[surface.mesh[surface.triangles[:, 0]] == mesh]
    if len(triangles) < LEAST_NOISY:
        return 0.0, len(triangles)
    normals = triangle_normals(surface.vertices, triangles)
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    keys, owner = _sides(triangles), np.tile(np.arange(len(triangles)), 3)
    order = np.argsort(keys, kind="stable")
    pair = np.flatnonzero(keys[order[1:]] == keys[order[:-1]])
    if not len(pair):
        return 0.0, len(triangles)
    cosine = (normals[owner[order[pair]]] * normals[owner[order[pair + 1]]]).sum(axis=1)
    return float((cosine < STEEP).mean()), len(triangles)


def closed_vertices(surface: Surface) -> dict[str, Floats]:
    """The argument "vertices" of a solver, in which both sides of slightly open split edges
    coincide; {} without such edges."""
    if surface.split is None or surface.split.exact:
        return {}
    return {"vertices": surface.vertices[surface.split.groups]}


def untouched(problem: Problem, vertices: Integers) -> Bools:
    """Returns (k,) bool: vertices without locks and edits."""
    arguments = problem.arguments
    found = np.ones(len(vertices), bool)
    if "locked_vertices" in arguments:
        sets = arguments["vertex_sets"][vertices]
        found &= ~arguments["locked_vertices"][vertices]
        found &= ~arguments["locked_bones"].any(axis=1)[sets]
    for name in ("constraints", "influences"):
        given = arguments.get(name)
        if given is not None and len(given[0]):
            found &= ~np.isin(vertices, given[0])
    return found
