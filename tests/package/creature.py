"""A synthetic creature: a trunk with two arms that end in two fingers each, a sleeve around each
arm and a button on its chest. It is symmetric about X = 0."""

from functools import cache

import numpy as np
from shapes import box, join, tube

CELL = 0.1
BONES = (  # name, head, tail, parent
    ("hips", (0, 0, 0.05), (0, 0, 0.8), None),
    ("chest", (0, 0, 0.8), (0, 0, 1.6), "hips"),
    ("head", (0, 0, 1.6), (0, 0, 2.35), "chest"),
    *(
        bone
        for side, x in (("L", 1), ("R", -1))
        for bone in (
            (f"arm.{side}", (0.2 * x, 0, 1.35), (0.8 * x, 0, 1.35), "chest"),
            (f"hand.{side}", (0.8 * x, 0, 1.35), (1.35 * x, 0, 1.35), f"arm.{side}"),
            (f"front.{side}", (1.35 * x, -0.15, 1.35), (2.15 * x, -0.15, 1.35), f"hand.{side}"),
            (f"back.{side}", (1.35 * x, 0.15, 1.35), (2.15 * x, 0.15, 1.35), f"hand.{side}"),
        )
    ),
)
NAMES = [bone[0] for bone in BONES]


def cells():
    """(x, y, z) of all cells of the body, in cells."""
    filled = {(x, y, z) for x in range(-2, 2) for y in range(-2, 2) for z in range(24)}
    for x in range(14):
        filled |= {(s, y, z) for s in (x, -1 - x) for y in range(-2, 2) for z in range(12, 15)}
    for x in range(13, 22):
        for y in (-3, -2, 1, 2):
            filled |= {(s, y, z) for s in (x, -1 - x) for z in range(12, 15)}
    for x in (12, 13):
        filled |= {(s, y, z) for s in (x, -1 - x) for y in range(-3, 3) for z in range(12, 15)}
    return filled


def skin(filled, smoothings=2):
    """(vertices, triangles) of the faces between filled and empty cells, smoothed."""
    corners, quads = {}, []
    for cell in sorted(filled):
        for axis in range(3):
            for side in (0, 1):
                to = list(cell)
                to[axis] += 2 * side - 1
                if tuple(to) in filled:
                    continue
                u, v = (axis + 1) % 3, (axis + 2) % 3
                quad = []
                for du, dv in ((0, 0), (1, 0), (1, 1), (0, 1)):
                    at = list(cell)
                    at[axis] += side
                    at[u] += du
                    at[v] += dv
                    quad.append(corners.setdefault(tuple(at), len(corners)))
                quads.append(quad if side else quad[::-1])
    vertices = CELL * np.array(list(corners), float)
    quads = np.array(quads)
    triangles = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    pairs = np.concatenate([quads, np.roll(quads, 1, 1)], 1).reshape(-1, 2, 4).swapaxes(1, 2)
    pairs = pairs.reshape(-1, 2)
    i, j = np.unique(np.concatenate([pairs, pairs[:, ::-1]]), axis=0).T
    counts = np.bincount(i)[:, None]
    for _ in range(smoothings):
        mean = np.column_stack([np.bincount(i, vertices[j, k]) for k in range(3)]) / counts
        vertices = (vertices + mean) / 2
    return vertices, triangles


@cache
def creature():
    """(vertices, triangles, first vertex of each part: body, sleeves, button)."""
    body = skin(cells())
    sleeve, faces = tube(16, 7, 0.31, 0.35)
    left = sleeve[:, [2, 0, 1]] + (0.42, 0, 1.35)
    right = left * (-1, 1, 1)
    button = box((0.12, 0.06, 0.12), (0, -0.22, 1.0))
    parts = [body, (left, faces), (right, faces[:, ::-1]), button]
    first = np.cumsum([0] + [len(part[0]) for part in parts])
    return *join(*parts), first


def vertices_of(first, part):
    return np.arange(first[part], first[part + 1])
