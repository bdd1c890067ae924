"""Random characters in several pieces for weights(), each solved again after a change that does not
concern its body: vertices far away, by themselves, joined by a face or of other parts, another unit
and place, and a copy of the character beside it.

Every row is complete. The body keeps its weights, nearly, and a copy has weights for its own bones
only.

`python tests/package/fuzzing_characters.py SECONDS [FIRST_SEED]` and `=SEED`, as for fuzzing.py."""

import sys

import araplbs
import fuzzing
import numpy as np
import shapes
from fuzzing import promise

# Differences of a whole body. Those of 1,000 bodies with stray vertices, in another unit or at
# another place were at most 0.09.
MOST = 0.15  # half the L1 difference of a row, on average
ANOTHER = 0.2  # share of rows with another strongest bone
SEEDS = (1, 2, 3, 4)  # of other poses


def limb(rng, start, way, bones, closed):
    """A tube from a point in a direction, with points for this many bones: (mesh, points)."""
    around, along = int(rng.integers(5, 10)), 2 * bones + int(rng.integers(1, 6))
    length = np.linalg.norm(way)
    mesh = shapes.tube(around, along, length * rng.uniform(0.08, 0.2), length, caps=closed)
    z = np.asarray(way) / length
    x = np.cross(z, [0.3, 0.9, 0.1])
    frame = np.array([x / np.linalg.norm(x), np.cross(z, x) / np.linalg.norm(x), z])
    return (mesh[0] @ frame + start, mesh[1]), start + np.linspace(0, 1, bones + 1)[:, None] * way


def make(rng):
    """(vertices, triangles, heads, tails, parents) of a trunk with limbs and belongings."""
    trunk, points = limb(rng, np.zeros(3), np.array([0, 0, rng.uniform(1, 2)]), 3, True)
    meshes, heads, tails, parents = [trunk], list(points[:-1]), list(points[1:]), [-1, 0, 1]
    for _limb in range(int(rng.integers(1, 5))):
        start = points[1] + rng.uniform(0, 1, 1) * (points[3] - points[1])
        way = rng.normal(size=3) * [1, 0.3, 0.5]
        way *= rng.uniform(0.5, 1.2) / np.linalg.norm(way)
        bones = int(rng.integers(1, 4))
        mesh, joints = limb(rng, start + 0.1 * way, way, bones, rng.random() < 0.7)
        meshes.append(mesh)
        parents += [int(rng.integers(3)), *(len(heads) + k for k in range(bones - 1))]
        heads += list(joints[:-1])
        tails += list(joints[1:])
    for _piece in range(int(rng.integers(0, 3))):
        on = meshes[int(rng.integers(len(meshes)))][0]
        at = on[int(rng.integers(len(on)))]
        meshes.append(shapes.box(rng.uniform(0.02, 0.2, 3), at))
    return *shapes.join(*meshes), np.array(heads), np.array(tails), np.array(parents)


def weigh(vertices, triangles, heads, tails, parents, **options):
    options |= {"random_poses": 20, "threads": 1}
    made = araplbs.weights(vertices, triangles, heads, parents, tails=tails, **options)
    rows = made.rows
    promise(rows.count == len(vertices), "rows", rows.count)
    promise(np.isfinite(rows.weights).all() and (rows.weights >= 0).all(), "weights", rows.weights)
    promise((np.abs(rows.sums() - 1) < 1e-6).all(), "sums", rows.sums().min(), rows.sums().max())
    return made


def differences(found, expected):
    """(half the mean L1 difference of rows, share of rows with another strongest bone)"""
    off = np.abs(found - expected).sum(1).mean() / 2
    return off, (found.argmax(1) != expected.argmax(1)).mean()


def alike(found, expected):
    off, another = differences(found, expected)
    return off < MOST and another < ANOTHER


def compare(found, expected):
    """Refuses weights of a body that are not those expected."""
    off, another = differences(found, expected)
    promise(alike(found, expected), f"off by {off:.3f}, other bones {another:.3f}")


def is_decided(character, made, options):
    """Whether the weights of a body do not depend on the poses that are drawn. Random poses of two
    bodies are other poses."""
    doubts = any(line.startswith("Warning") for line in made.lines)
    others = (weigh(*character, **options, seed=seed).toarray() for seed in SEEDS)
    return not doubts and all(alike(each, made.toarray()) for each in others)


def stray(rng, character, made, options):
    """With vertices far away: no face uses them, a face joins one of them to the body, or they are
    those of boxes."""
    vertices, triangles, *skeleton = character
    size = np.ptp(vertices, axis=0).max()
    far = rng.normal(size=(int(rng.integers(1, 4)), 3))
    far *= size * 10.0 ** rng.uniform(0.8, 5) / np.linalg.norm(far, axis=1, keepdims=True)
    kind = int(rng.integers(3))
    if kind == 2:
        vertices, triangles = shapes.join(
            (vertices, triangles), *(shapes.box(size * rng.uniform(0.01, 1, 3), at) for at in far)
        )
    else:
        vertices = np.concatenate([vertices, far])
    if kind == 1:
        first, second, _third = triangles[rng.integers(len(triangles))]
        triangles = np.vstack([triangles, [first, second, len(vertices) - 1]])
    found = weigh(vertices, triangles, *skeleton, **options)
    compare(found.toarray()[: len(made.toarray())], made.toarray())


def elsewhere(rng, character, made, options):
    """In another unit, at another place."""
    vertices, triangles, heads, tails, parents = character
    unit, place = 10.0 ** rng.uniform(-6, 6), rng.normal(size=3) * 10.0 ** rng.uniform(-2, 4)
    moved = ((points + place) * unit for points in (vertices, heads, tails))
    vertices, heads, tails = moved
    found = weigh(vertices, triangles, heads, tails, parents, **options)
    compare(found.toarray(), made.toarray())


def beside(rng, character, made, options):
    """Two of them in one mesh and one armature."""
    vertices, triangles, heads, tails, parents = character
    n, m = len(vertices), len(parents)
    away = [np.ptp(vertices[:, 0]) * 10.0 ** rng.uniform(0.2, 2), 0, 0]
    both = [np.concatenate([points, points + away]) for points in (vertices, heads, tails)]
    triangles = np.concatenate([triangles, triangles + n])
    parents = np.concatenate([parents, np.where(parents < 0, -1, parents + m)])
    found = weigh(both[0], triangles, *both[1:], parents, **options).toarray()
    across = max(found[:n, m:].max(), found[n:, :m].max())
    promise(across == 0, "weights for bones of the other", across)
    if is_decided(character, made, options):
        compare(found[:n, :m], made.toarray())
        compare(found[n:, m:], made.toarray())


def run(seed):
    """The outcome, "change: done"; raises Broken if a guarantee is broken."""
    rng = np.random.default_rng([seed, 78])
    change = (stray, elsewhere, beside)[seed % 3]
    character, options = make(rng), {"symmetric": False}
    try:
        change(rng, character, weigh(*character, **options), options)
    except (ValueError, fuzzing.Broken) as error:
        raise fuzzing.Broken(f"{change.__name__}: {error}") from error
    return f"{change.__name__}: done"


if __name__ == "__main__":
    sys.exit(fuzzing.main(*sys.argv[1:], run=run))
