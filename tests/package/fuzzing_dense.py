"""Generates small meshes with dense systems and edits on all data: fans, in which all vertices are
in each other's two-rings, small solids, clouds of triangles, many bones, unlimited influences."""

import numpy as np
import shapes

MOST_UNKNOWNS = 4000  # of a dense system that takes little time on a busy machine


def cloud_of_triangles(rng):
    """Triangles between any of a few vertices."""
    count = int(rng.integers(4, 60))
    corners = rng.integers(0, count, (4 * count, 3))
    return rng.normal(size=(count, 3)), corners


def make_mesh(rng):
    """(vertices, triangles)"""
    around = int(rng.choice([rng.integers(3, 12), rng.integers(12, 60), rng.integers(60, 401)]))
    kinds = {
        "disc": lambda: shapes.disc(around),
        "cone": lambda: shapes.cone(around),
        "cylinder": lambda: shapes.tube(around, 2, 0.5, 1, caps=True),
        "tube": lambda: shapes.tube(*map(int, rng.integers(3, 9, 2)), 0.3, 2, caps=True),
        "box": lambda: shapes.box(rng.uniform(0.1, 2, 3)),
        "sphere": lambda: shapes.sphere(*map(int, rng.integers(3, 7, 2))),
        "cloud": lambda: cloud_of_triangles(rng),
    }
    vertices, triangles = kinds[str(rng.choice(list(kinds)))]()
    vertices = np.array(vertices, float)
    if rng.random() < 0.3:
        vertices += rng.normal(size=vertices.shape) * 10.0 ** rng.uniform(-9, -1)
    if rng.random() < 0.2:
        vertices, triangles = shapes.join((vertices, triangles), shapes.cone(around, 0.2, 0.5))
    return vertices, triangles


def make_bones(rng, n):
    """Fewer for a mesh of many vertices, because edits of all vertices may give each vertex all
    bones."""
    m = int(rng.choice([rng.integers(1, 9), rng.integers(9, 64), rng.integers(64, 251)]))
    m = min(m, max(1, 2 * MOST_UNKNOWNS // n))
    if rng.random() < 0.5:
        return shapes.chain(m, height=1.0)
    heads = rng.uniform(-0.5, 0.5, (m, 3))
    tails = heads + 0.2 * rng.normal(size=heads.shape)
    return shapes.Bones(heads, tails, np.array([int(rng.integers(-1, b)) for b in range(m)]))


def edits(rng, n, m):
    """Some kinds of edits, each of most vertices or of all."""
    some = np.flatnonzero(rng.random(n) < rng.choice([0.1, 0.9, 1]))
    drawn = {
        "smoothed": lambda: (some, rng.uniform(0, 1, len(some)) ** rng.choice([0, 1])),
        "influences": lambda: (some, rng.integers(0, m, len(some)), rng.random(len(some)) < 0.8),
        "released": lambda: (some, rng.integers(0, m, len(some))),
        "constraints": lambda: (some, rng.integers(0, m, len(some)), rng.random(len(some))),
    }
    shares = {"smoothed": 0.8, "influences": 0.4, "released": 0.2, "constraints": 0.3}
    return {key: drawn[key]() for key, share in shares.items() if rng.random() < share}


def make(rng):
    """Arguments of a Solver."""
    vertices, triangles = make_mesh(rng)
    bones = make_bones(rng, len(vertices))
    n, m = len(vertices), len(bones.heads)
    arguments = {
        "vertices": vertices,
        "triangles": triangles,
        "edges": None,
        "tets": None,
        "bone_heads": bones.heads,
        "bone_tails": bones.tails,
        "bone_parents": bones.parents,
        "bone_deform": None,
    }
    if rng.random() < 0.6:
        arguments |= edits(rng, n, m)
    if rng.random() < 0.2 and n * m <= MOST_UNKNOWNS:
        arguments |= {"weights": rng.dirichlet(np.ones(m), n), "start_from_weights": True}
    if rng.random() < 0.3:
        most = int(rng.choice([0, 0, 8, 20]))
        arguments["max_influences"] = most if n * m <= MOST_UNKNOWNS else most or 8
    return arguments
