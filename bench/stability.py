"""Measures how much weights change with another seed, with many more poses, with the vertices in
another order, and on a finer mesh of the same surface.

stability.py ZIP OUTPUT_FOLDER [CHARACTER...]     (called by bench.py)"""

import itertools
import sys
from pathlib import Path

import numpy as np
from problems import characters, problems
from results import say, table, write_page
from subdivide import quarters
from yardstick import POSES, Surface, skin

CHOSEN = (
    "cesium_man", "knight", "mh_game", "sintel", "m2m_horse", "q_trex", "leap_hand", "ranger",
    "q_eagle", "q_snake", "mage", "webxr_hand",
)  # fmt: skip
DENSE = "mh_subdiv1"  # subdivided already
SEEDS, OTHER_SEED = range(3), 77
MANY, MORE = 1_600, 400  # poses
WAYS = {  # of the second table
    "default": {},
    f"{MORE} poses": {"pose_count": MORE, "fine_poses": 1},
    "80 poses, 48 on finer meshes": {"pose_count": 80, "fine_poses": 0.6},
    "200 iterations, tolerance 1e-6": {"iterations": 200, "tolerance": 1e-6},
    "tolerance 5e-4": {"tolerance": 5e-4},
    "no coarser mesh": {"coarsen": 0},
    "any number of influences": {"max_influences": 0},
    "influences of heat": {"expansion_rounds": 0},
    "no search for rigid parts": {"rigid_departure": 0},
}
NOTE = f"""\
L1 is the sum of |w - w'| over the bones, from 0 to 2, averaged over the vertices. *Seeds*: distance
between the weights for seeds 0, 1 and 2, averaged over the pairs. *Many poses*: distance to the
weights optimized for {MANY:,} random poses on all levels. *Subdivided*: distance between the
weights of a vertex on the mesh and on the same surface with every triangle split into four, with
seed 0. *Stretch*: ratio of the stretch of the finer mesh, with its own weights, to the stretch of
the mesh, in random poses not used for optimization. *Order*: the largest change of a single weight
if the vertices and triangles are renumbered. All other settings are the defaults."""
CAUSES = """\
This table repeats the comparison with one setting changed for both sets of weights. If a mean
is smaller than in the first row, the changed setting contributes to the difference."""


def halves(edges, first):
    """The distinct edges, and for each given edge the vertex at its midpoint, numbered from
    `first`."""
    distinct, which = np.unique(np.sort(edges, axis=1), axis=0, return_inverse=True)
    return distinct, first + which.ravel()


def subdivided(given):
    """The arguments of a Solver for the same surface with every triangle split into four; the
    original vertices come first."""
    vertices, triangles, wires = given["vertices"], given["triangles"], given["edges"]
    sides = np.concatenate([triangles[:, [k, (k + 1) % 3]] for k in range(3)])
    distinct, middle = halves(np.concatenate([sides, wires]), len(vertices))
    *of_sides, of_wires = np.split(middle, len(triangles) * np.arange(1, 4))
    split = [(wires[:, 0], of_wires), (of_wires, wires[:, 1])]
    return {
        **given,
        "vertices": np.concatenate([vertices, vertices[distinct].mean(1)]),
        "triangles": quarters(triangles, of_sides).astype(triangles.dtype),
        "edges": np.concatenate([np.stack(e, 1) for e in split]).astype(wires.dtype),
    }


def reordered(given):
    """The same mesh with vertices and triangles in another order, and the number of each vertex."""
    rng = np.random.default_rng(0)
    order = rng.permutation(len(given["vertices"]))
    number = np.argsort(order)
    triangles, wires = (number[given[k]].astype(given[k].dtype) for k in ("triangles", "edges"))
    other = {"vertices": given["vertices"][order], "triangles": rng.permutation(triangles)}
    return {**given, **other, "edges": wires}, number


def stretch(mesh, rows, poses):
    """Root of the area-weighted mean squared strain over the poses."""
    surface = Surface(mesh["vertices"], mesh["triangles"].astype(int))
    below = np.zeros((poses.shape[1], 1, 4))
    posed = (skin(mesh["vertices"], rows, np.concatenate([p, below], 1)) for p in poses)
    mean = np.mean([surface.strain2(points) for points in posed], axis=0)
    return np.sqrt((mean * surface.area).sum() / surface.area.sum())


def weights(problem, **options):
    solver = problem.solver(threads=0, **options)
    solver.solve()
    return solver.weights


def distance(one, other):
    return np.abs(one - other).sum(1).mean()


def compare_finer(problem, own, way):
    """{"subdivided", "stretch"}"""
    mesh = subdivided(problem.arguments)
    finer, poses = weights(problem, **mesh, **way), problem.unseen[:POSES]
    before = stretch(problem.arguments, own, poses)
    return {
        "subdivided": distance(own, finer[: problem.vertices]),
        "stretch": stretch(mesh, finer, poses) / before,
    }


def measure(problem, way):
    """{"seeds", "subdivided", "stretch"} for some settings, by default also "many" and "order"."""
    of_seeds = [weights(problem, seed=seed, **way) for seed in SEEDS]
    row = compare_finer(problem, of_seeds[0], way) | {
        "seeds": np.mean([distance(*pair) for pair in itertools.combinations(of_seeds, 2)])
    }
    if not way:
        many = weights(problem, seed=OTHER_SEED, pose_count=MANY, fine_poses=1)
        row["many"] = np.mean([distance(each, many) for each in of_seeds])
        mesh, number = reordered(problem.arguments)
        row["order"] = np.abs(weights(problem, **mesh)[number] - of_seeds[0]).max()
    return {key: float(value) for key, value in row.items()}


def mean(rows, way, key):
    return np.mean([row["ways"][way][key] for row in rows])


def main(zip_path, output, *asked):
    known = characters([])
    names = list(asked) or [name for name in CHOSEN if name in known] or list(known)
    rows = []
    for problem in problems(Path(zip_path), names):
        ways = {label: measure(problem, way) for label, way in WAYS.items()}
        rows.append({"name": problem.name, "vertices": problem.vertices, "ways": ways})
        say(problem.name, *(f"{key} {value:.3f}" for key, value in ways["default"].items()))
    keys = ("seeds", "many", "subdivided", "stretch", "order")
    own = [
        [row["name"], f"{row['vertices']:,}", *(f"{row['ways']['default'][k]:.3f}" for k in keys)]
        for row in rows
    ]
    own.append(["mean", "", *(f"{mean(rows, 'default', key):.3f}" for key in keys)])
    for problem in problems(Path(zip_path), [DENSE] if DENSE in known and not asked else []):
        dense = compare_finer(problem, weights(problem), {})
        numbers = ["-", "-", f"{dense['subdivided']:.3f}", f"{dense['stretch']:.3f}", "-"]
        own.append([problem.name, f"{problem.vertices:,}", *numbers])
        say(problem.name, *numbers)
    causes = [
        [label, *(f"{mean(rows, label, key):.3f}" for key in ("seeds", "subdivided"))]
        for label in WAYS
    ]
    titles = ["character", "vertices", "seeds", "many poses", "subdivided", "stretch", "order"]
    write_page(
        Path(output), "stability", "Stability of the weights", NOTE,
        table(titles, own),
        "## Where it comes from", CAUSES, table(["setting", "seeds", "subdivided"], causes),
        rows=rows,
    )  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
