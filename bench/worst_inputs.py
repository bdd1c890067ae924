"""Generates inputs whose run time once grew faster than their size: a tube of many bones, hair,
loose parts, and a character with locked vertices or rigid parts."""

import numpy as np
import synthetic

SHAPES = {20: (4, 2), 54: (6, 4), 161: (7, 11), 300: (12, 12), 1_000: (40, 12)}  # of the creature
AROUND = 20  # vertices around the tube
HAIR, BALL = 20, 5  # vertices of a hair; cells of a part across


def chain(bones, length):
    """(heads, tails, parents) of bones end to end along x."""
    joints = np.column_stack([np.linspace(0, length, bones + 1), np.zeros((bones + 1, 2))])
    return joints[:-1], joints[1:], np.arange(-1, bones - 1)


def tube(vertices, bones):
    """A tube along a chain of bones."""
    rings = vertices // AROUND
    length = rings * 2 * np.pi / AROUND / 10
    turns = np.linspace(0, 2 * np.pi, AROUND, endpoint=False)
    x, angle = np.meshgrid(np.linspace(0, length, rings), turns, indexing="ij")
    points = np.column_stack([x.ravel(), 0.1 * np.cos(angle).ravel(), 0.1 * np.sin(angle).ravel()])
    ring, k = np.meshgrid(np.arange(rings - 1), np.arange(AROUND), indexing="ij")
    a, b = ring * AROUND + k, ring * AROUND + (k + 1) % AROUND
    triangles = np.concatenate(
        [np.stack(corners, -1).reshape(-1, 3) for corners in
         ((a, b, b + AROUND), (a, b + AROUND, a + AROUND))]
    )  # fmt: skip
    return {"vertices": points, "triangles": triangles, "bones": chain(bones, length)}


def hair(vertices, bones=20):
    """Strands around a chain of bones, slightly bent."""
    rng = np.random.default_rng(0)
    strands = vertices // HAIR
    root = np.column_stack([rng.uniform(0, 2, strands), np.zeros((strands, 2))])
    angle = rng.uniform(0, 2 * np.pi, strands)
    out = np.column_stack([np.zeros(strands), np.cos(angle), np.sin(angle)])
    along = np.linspace(0.1, 0.5, HAIR)
    bend = rng.normal(scale=0.05, size=(strands, 3))
    points = root[:, None] + along[:, None] * out[:, None] + (along**2)[:, None] * bend[:, None]
    first = (np.arange(strands) * HAIR)[:, None] + np.arange(HAIR - 1)
    return {
        "vertices": points.reshape(-1, 3),
        "triangles": None,
        "edges": np.stack([first, first + 1], -1).reshape(-1, 2),
        "bones": chain(bones, 2),
    }


def creature(vertices, bones):
    """A spine with arms on both sides; `bones` is one of SHAPES."""
    points, triangles, *skeleton = synthetic.creature(vertices, *SHAPES[bones])
    return {"vertices": points, "triangles": triangles, "bones": tuple(skeleton)}


def rigid(count, bones=20):
    """The parts of parts(), each of which is rigid."""
    given = parts(count, bones)
    return {**given, "rigid_parts": np.arange(len(given["vertices"])) // BALL**2}


def parts(count, bones=20):
    """Loose plates of a coat of mail, 5 x 5 vertices each, around a chain of bones."""
    rng = np.random.default_rng(0)
    u, v = (each.ravel() for each in np.mgrid[:BALL, :BALL])
    a = (np.arange(BALL - 1)[:, None] * BALL + np.arange(BALL - 1)).ravel()
    faces = np.concatenate(
        [np.column_stack([a, a + BALL, a + BALL + 1]), np.column_stack([a, a + BALL + 1, a + 1])]
    )
    x, angle = rng.uniform(0, 2, count), rng.uniform(0, 2 * np.pi, count)
    radius = rng.uniform(0.2, 0.22, count)
    across = 0.01 * (u - (BALL - 1) / 2)
    turn = angle[:, None] + 0.01 * (v - (BALL - 1) / 2) / radius[:, None]
    points = np.stack(
        [x[:, None] + across, radius[:, None] * np.cos(turn), radius[:, None] * np.sin(turn)], -1
    )
    triangles = (np.arange(count) * BALL**2)[:, None, None] + faces
    return {
        "vertices": points.reshape(-1, 3),
        "triangles": triangles.reshape(-1, 3),
        "bones": chain(bones, 2),
    }


def locked(vertices, share):
    """(n,) bool: this share of the vertices, starting at one end of the longest side."""
    along = vertices[:, np.ptp(vertices, axis=0).argmax()]
    return along <= np.quantile(along, share) if share else np.zeros(len(vertices), bool)


def hanging(rows, count, share):
    """(n,) rigid parts: vertices with the same strongest bone, for as many bones that about this
    share of the vertices belongs to one; -1: no part. rows: (start, bones, weights)."""
    start, bones, weights = rows
    order = np.lexsort((-weights, np.repeat(np.arange(count), np.diff(start))))
    strongest = bones[order][start[:-1]]
    names, sizes = np.unique(strongest, return_counts=True)
    chosen = names[np.cumsum(sizes) <= share * count + 1]
    return np.where(np.isin(strongest, chosen), strongest, -1)
