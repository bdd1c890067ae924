"""Generates meshes and skeletons. A mesh is (vertices, triangles), and a skeleton is a Bones."""

import itertools
from dataclasses import dataclass, replace

import araplbs
import numpy as np


def tube(around=8, along=9, radius=0.2, height=2.0, caps=False):
    """A cylinder along Z from 0 to `height`; with caps, it is closed by two center vertices."""
    angle = np.arange(around) * 2 * np.pi / around
    circle = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(around)]) * radius
    rings = [circle + np.array([0, 0, z]) for z in np.linspace(0, height, along)]
    vertices = np.concatenate([*rings, [[0, 0, 0], [0, 0, height]]] if caps else rings)
    i = np.arange(around)
    k = (i + 1) % around
    triangles = []
    for j in range(along - 1):
        a, b = j * around + i, j * around + k
        triangles += [
            np.column_stack([a, b, b + around]),
            np.column_stack([a, b + around, a + around]),
        ]
    if caps:
        bottom, top, last = around * along, around * along + 1, around * (along - 1)
        triangles += [
            np.column_stack([k, i, np.full(around, bottom)]),
            np.column_stack([last + i, last + k, np.full(around, top)]),
        ]
    return vertices, np.concatenate(triangles)


def box(size=(1.0, 1.0, 1.0), at=(0.0, 0.0, 0.0)):
    """A cube of 8 vertices and 12 triangles."""
    vertices = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]
    return (vertices - 0.5) * size + at, np.array(triangles)


def bar(cells=(2, 2, 6), size=(0.4, 0.4, 2.0)):
    """(vertices, tets) of a bar about the Z axis from 0 upward: six tets per cell, all positive."""
    counts = np.array(cells) + 1
    grid = np.stack(np.meshgrid(*map(np.arange, counts), indexing="ij"), -1).reshape(-1, 3)
    vertices = (grid / cells - (0.5, 0.5, 0)) * size
    strides = np.array([counts[1] * counts[2], counts[2], 1])
    first = grid[(grid < cells).all(1)] @ strides
    tets = []
    for order in itertools.permutations(range(3)):
        path = np.cumsum([0, *strides[list(order)]])
        even = np.linalg.det(np.eye(3)[list(order)]) > 0
        tets.append(first[:, None] + (path if even else path[[0, 1, 3, 2]]))
    return vertices, np.concatenate(tets)


def sphere(rings=7, around=10, radius=0.5, at=(0.0, 0.0, 0.0)):
    vertices = [[0, 0, -1]]
    for p in np.linspace(-np.pi / 2, np.pi / 2, rings + 2)[1:-1]:
        for a in np.arange(around) * 2 * np.pi / around:
            vertices.append([np.cos(p) * np.cos(a), np.cos(p) * np.sin(a), np.sin(p)])
    vertices.append([0, 0, 1])
    triangles = []
    for i in range(around):
        k = (i + 1) % around
        triangles.append((0, 1 + k, 1 + i))
        for j in range(rings - 1):
            a, b = 1 + j * around + i, 1 + j * around + k
            triangles += [(a, b, b + around), (a, b + around, a + around)]
        last = 1 + (rings - 1) * around
        triangles.append((last + i, last + k, len(vertices) - 1))
    return np.array(vertices, float) * radius + at, np.array(triangles)


def moebius(along=24, across=3, radius=1.0, width=0.4):
    """A band with half a twist, which has no outside."""
    vertices = []
    for i in range(along):
        a = 2 * np.pi * i / along
        for t in np.linspace(-width / 2, width / 2, across):
            r = radius + t * np.cos(a / 2)
            vertices.append([r * np.cos(a), r * np.sin(a), t * np.sin(a / 2)])
    triangles = []
    for i in range(along):
        for j in range(across - 1):
            a, b = i * across + j, i * across + j + 1
            if i + 1 < along:
                c, d = a + across, b + across
            else:
                c, d = across - 1 - j, across - 2 - j
            triangles += [(a, c, d), (a, d, b)]
    return np.array(vertices), np.array(triangles)


def fan(blades=5, height=2.0):
    """Several sheets that share one chain of edges along Z: non-manifold edges."""
    spine = np.array([[0, 0, z] for z in np.linspace(0, height, 6)])
    vertices, triangles = [spine], []
    for blade in range(blades):
        a = 2 * np.pi * blade / blades
        first = 6 * (blade + 1)
        vertices.append(spine + np.array([0.4 * np.cos(a), 0.4 * np.sin(a), 0]))
        for j in range(5):
            triangles += [(j, j + 1, first + j), (j + 1, first + j + 1, first + j)]
    return np.concatenate(vertices), np.array(triangles)


def disc(count, radius=1.0):
    """One fan of triangles around a center: all vertices are in each other's two-rings."""
    angle = np.arange(count) * 2 * np.pi / count
    rim = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(count)]) * radius
    i = np.arange(count)
    fan_of = np.column_stack([i, (i + 1) % count, np.full(count, count)])
    return np.concatenate([rim, np.zeros((1, 3))]), fan_of


def cone(count, radius=0.3, height=1.0):
    """A disc at the bottom, and a fan from its rim to an apex."""
    vertices, triangles = disc(count, radius)
    peak = np.column_stack([triangles[:, 1], triangles[:, 0], np.full(count, count + 1)])
    return np.concatenate([vertices, [[0, 0, height]]]), np.concatenate([triangles, peak])[:, ::-1]


def soup(count=40, seed=3):
    """Triangles that share no vertices and cross each other."""
    rng = np.random.default_rng(seed)
    corners = rng.uniform(-0.3, 0.3, (count, 3, 3))
    corners += rng.uniform([-1, -1, 0], [1, 1, 2], (count, 1, 3))
    return corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3)


def odd_meshes():
    """Unusual meshes by name: without edges, without size, soup, non-manifold."""
    return {
        "no edges": (np.arange(18.0).reshape(6, 3) % 7, np.zeros((0, 3), int)),
        "no size": (np.zeros((3, 3)), np.array([[0, 1, 2]])),
        "soup": soup(),
        "fan": fan(),
    }


def split(vertices, triangles):
    """Every triangle has vertices of its own, all coincident with those of its neighbors."""
    return vertices[triangles.ravel()], np.arange(triangles.size).reshape(-1, 3)


def sides(triangles):
    """The ends of the sides of triangles, (3f, 2): first sides, then second and third ones."""
    return triangles[:, [[0, 1], [1, 2], [2, 0]]].swapaxes(0, 1).reshape(-1, 2)


def halved(vertices, triangles):
    """Every triangle is split into four."""
    edges = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    edges, number = np.unique(edges, axis=0, return_inverse=True)
    a, b, c = triangles.T
    x, y, z = (len(vertices) + number.reshape(-1, 3)).T
    corners = [(a, x, z), (x, b, y), (z, y, c), (x, y, z)]
    return (
        np.concatenate([vertices, vertices[edges].mean(1)]),
        np.concatenate([np.stack(each, 1) for each in corners]),
    )


def join(*meshes):
    vertices, triangles, count = [], [], 0
    for v, t in meshes:
        vertices.append(v)
        triangles.append(np.asarray(t).reshape(-1, 3) + count)
        count += len(v)
    return np.concatenate(vertices), np.concatenate(triangles).astype(int)


@dataclass
class Bones:
    heads: np.ndarray
    tails: np.ndarray
    parents: np.ndarray
    roll_axes: np.ndarray | None = None
    deform: np.ndarray | None = None
    limits: np.ndarray | None = None
    kinds: list | None = None
    ranges: np.ndarray | None = None
    segments: list | None = None

    def __len__(self):
        return len(self.parents)

    def __iter__(self):
        """So that Solver(*mesh, *bones) works."""
        return iter((self.heads, self.tails, self.parents))

    @property
    def more(self):
        """The optional arguments."""
        bendy = {} if self.segments is None else {"bone_segments": self.segments}
        return bendy | {
            "bone_roll_axes": self.roll_axes,
            "bone_deform": self.deform,
            "bone_limits": self.limits,
            "bone_kinds": self.kinds,
            "bone_ranges": self.ranges,
        }

    def but(self, **changes):
        return replace(self, **changes)

    def moved(self, matrix, offset=(0, 0, 0)):
        """Under x -> matrix x + offset, a similarity or a mirror image."""
        roll = None if self.roll_axes is None else self.roll_axes @ np.transpose(matrix)
        return self.but(
            heads=self.heads @ np.transpose(matrix) + offset,
            tails=self.tails @ np.transpose(matrix) + offset,
            roll_axes=roll,
        )


def chain(count=3, height=2.0, **more):
    """Bones end to end along Z, with roll axes along Y."""
    z = np.linspace(0, height, count + 1)
    joints = np.column_stack([np.zeros(count + 1), np.zeros(count + 1), z])
    more.setdefault("roll_axes", np.tile([0.0, 1, 0], (count, 1)))
    return Bones(joints[:-1], joints[1:], np.arange(count) - 1, **more)


def tree():
    """A trunk, two arms at a distance from it, and a helper bone that does not deform in one
    arm."""
    table = [  # head, tail, parent, roll axis, deforms
        ((0, 0, 0), (0, 0, 1), -1, (0, 1, 0), True),
        ((0, 0, 1), (0, 0, 1.7), 0, (0, 1, 0.1), True),
        ((0.2, 0, 1.8), (0.8, 0.1, 1.8), 1, (0, 0, 1), True),
        ((0.8, 0.1, 1.8), (1.4, 0, 1.9), 2, (0, 0.3, 1), True),
        ((-0.2, 0, 1.8), (-0.7, 0, 1.7), 1, (0, 0, 1), False),
        ((-0.7, 0, 1.7), (-1.3, 0.2, 1.6), 4, (0.1, 0, 1), True),
    ]
    heads, tails, parents, roll_axes, deform = (np.array(c) for c in zip(*table, strict=True))
    return Bones(heads, tails, parents, roll_axes=roll_axes, deform=deform)


def rows(mask, weights):
    """Sparse rows with exactly the entries of `mask`, including zeros."""
    start = np.concatenate([[0], np.cumsum(mask.sum(1))])
    vertex, bone = np.nonzero(mask)
    return start, bone.astype(np.int32), np.asarray(weights, float)[vertex, bone]


def rotation(axis, angle):
    axis = np.asarray(axis, float) / np.linalg.norm(axis)
    k = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


def random_rotations(rng, *shape):
    q = rng.normal(size=(*shape, 4))
    w, x, y, z = np.moveaxis(q / np.linalg.norm(q, axis=-1, keepdims=True), -1, 0)
    flat = [
        *(1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        *(2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        *(2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    ]
    return np.stack(flat, -1).reshape(*shape, 3, 3)


def random_weights(rng, vertices, bones, empty=0.0):
    """Rows that sum to 1. A share `empty` of the entries is 0, but never a whole row."""
    weights = rng.uniform(0.05, 1, (vertices, bones))
    weights *= rng.uniform(size=weights.shape) >= empty
    lost = weights.sum(1) == 0
    weights[lost, rng.integers(0, bones, lost.sum())] = 1
    return weights / weights.sum(1, keepdims=True)


def solver(mesh, bones, **settings):
    """A Solver of a mesh with all data of its Bones."""
    return araplbs.Solver(*mesh, *bones, **{**bones.more, **settings})


def solve(mesh, bones, **settings):
    """Solves to the end and returns the state."""
    return solved(solver(mesh, bones, **settings))


def solved(solver):
    """A Solver that has run to its end."""
    solver.solve()
    return solver


def solve_from(mesh, bones, weights, **settings):
    """The weights that are found from these."""
    given = {"weights": weights, "start_from_weights": True, "expansion_rounds": 0}
    return solve(mesh, bones, precision="double", **given, **settings).weights


def dense(rows, bones):
    """(n, bones) of sparse rows."""
    start, bone, weight = rows
    weights = np.zeros((len(start) - 1, bones))
    weights[np.repeat(np.arange(len(weights)), np.diff(start)), bone] = weight
    return weights
