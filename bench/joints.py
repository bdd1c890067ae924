"""Optimizes joints and weights together, starting from the artist's joints and from displaced ones.

joints.py ZIP OUTPUT_FOLDER [CHARACTER...]     (called by bench.py)"""

import sys
import time
from pathlib import Path

import araplbs
import numpy as np
from problems import problems
from results import say, table, write_page

USUAL = ("human_game_engine", "cesium_man", "m2m_dragon")
OFF = 0.02  # of the bounding box diagonal
SEED = 5
UNSEEN, UNSEEN_SEED = 60, 99
METHODS = ("alternate", "together")
# Fingers are displaced by about their length. Iterations of the methods differ in size: both go on
# until little is left to gain.
FAR = {"max_shift": 2.0, "min_length": 0.25, "tolerance": 2e-4, "iterations": 60}
NOTE = f"""\
Every joint is displaced at random, with a root mean square displacement of {100 * OFF:.0f} % of the
bounding box diagonal. A `Solver` then computes weights for the resulting skeleton. The table lists
the energies of these weights in {UNSEEN} random poses not used for optimization. These energies
cover the surface alone and omit the springs, although the springs are optimized as well. Distances
are means over the joints about which bones rotate, as percentages of the mesh diagonal. The
distances are measured to the artist's positions, and to the positions that an optimization starting
from the artist's positions reaches. *Across* is the distance without its component along the
artist's bone. The positions with the lowest energy are not those of the artist, so joints do not
return to the artist's positions. In this test, joints may move farther than by default
(`max_shift`, `min_length`), because finger bones are shorter than 2 % of the diagonal."""
TIMES_NOTE = """\
The setup consists of the sums over the mesh and the linear system of the joints. A step
consists of a dense solve, new transforms, and a local step in double precision. For comparison,
the table lists one iteration of the weights alone (global and local step) on the same influence
maps. Each time is the fastest of several runs. All times are wall-clock times on a machine on
which other programs were running. The paper reports 5 to 10 s for the setup and 1 to 4 s per
iteration."""
METHODS_NOTE = """\
Both methods start from the displaced joints. *alternate*: up to 4 steps of the joints, followed by
3 iterations of the weights on a system assembled and factorized for the new poses. *together*:
alternating single steps of joints and weights, in which the first factor preconditions the
conjugate gradients. Energies are evaluated in the optimized poses and include the springs. Times
are processor seconds of all threads. *To 1 %*: the time until the energy is within 1 % of the lower
final energy."""


def energy_of(problem, heads, tails):
    """The energy of weights recomputed for these bones, in poses not used for optimization."""
    a = {**problem.arguments, "bone_heads": heads, "bone_tails": tails}
    solver = araplbs.Solver(**a)
    solver.solve()
    poses = araplbs.sample_poses(
        heads, tails, a["bone_parents"], UNSEEN, bone_roll_axes=a.get("bone_roll_axes"),
        bone_deform=a.get("bone_deform"), bone_limits=a.get("bone_limits"), seed=UNSEEN_SEED,
    )  # fmt: skip
    return problem.energy(solver.sparse_weights, poses)


def joint_solver(problem, heads, tails, **options):
    known = ("vertices", "triangles", "bone_parents", "edges", "bone_roll_axes", "bone_deform")
    a = {key: problem.arguments[key] for key in known if key in problem.arguments}
    return araplbs.JointSolver(**a, bone_heads=heads, bone_tails=tails, **options)


def run(problem, heads, tails, **options):
    """A finished solver, and (seconds, energy) from the first weights on."""
    solver = joint_solver(problem, heads, tails, **options)
    while not solver.done and not len(solver.energies):
        solver.iterate()
    seconds = solver.report["seconds"]
    spent = sum(value for key, value in seconds.items() if key != "weights")
    history = [(0.0, solver.energies[0]), (spent, solver.energy)]
    while not solver.done:
        start = time.process_time()
        solver.iterate()
        history.append((history[-1][0] + time.process_time() - start, solver.energy))
    return solver, history


def weight_iteration(problem, weights):
    """Seconds of one iteration on fixed influence maps."""
    solver = problem.solver(
        weights=weights, start_from_weights=True, expansion_rounds=0, max_influences=0, tolerance=0,
        iterations=8, symmetry=None,
    )  # fmt: skip
    times = []
    while not solver.done:
        start = time.perf_counter()
        solver.iterate()
        times.append(time.perf_counter() - start)
    return min(times[1:])


def measure(problem):
    a = problem.arguments
    heads, tails, deform = a["bone_heads"], a["bone_tails"], a["bone_deform"]
    diagonal = np.linalg.norm(np.ptp(a["vertices"], axis=0))
    say(problem.name)
    home, _ = run(problem, heads, tails)
    report = home.report
    of_head, of_tail = report["joint_of_head"], report["joint_of_tail"]
    turned = np.unique(of_head[(a["bone_parents"] >= 0) & (deform > 0)], return_index=True)[1]
    turned = np.flatnonzero((a["bone_parents"] >= 0) & (deform > 0))[turned]
    rng = np.random.default_rng(SEED)
    off = rng.normal(size=(report["joints"], 3)) * OFF * diagonal / np.sqrt(3)
    start = heads + off[of_head], tails + off[of_tail]
    runs = {method: run(problem, *start, method=method, **FAR) for method in METHODS}

    def distances(one, other):
        """The mean distance, and the mean across the artist's bones, as % of the diagonal."""
        way, bone = (one - other)[turned], (tails - heads)[turned]
        bone /= np.linalg.norm(bone, axis=1)[:, None]
        across = way - np.sum(way * bone, axis=1)[:, None] * bone
        return [100 * np.linalg.norm(x, axis=1).mean() / diagonal for x in (way, across)]

    places = [
        ("the artist's joints", heads, tails),
        ("... optimized", home.heads, home.tails),
        ("displaced", *start),
        *((f"... optimized, {m}", s.heads, s.tails) for m, (s, _) in runs.items()),
    ]
    lowest = min(history[-1][1] for _, history in runs.values())
    seconds = report["seconds"]
    return {
        "name": problem.name,
        "vertices": problem.vertices,
        "bones": problem.bones,
        "places": [
            (name, energy_of(problem, h, t), *distances(h, heads), *distances(h, home.heads))
            for name, h, t in places
        ],
        "setup": seconds["system"] / (1 + report["weight_steps"]),
        "step": seconds["joint steps"] / max(report["joint_steps"], 1),
        "iteration": weight_iteration(problem, home.sparse_weights),
        "methods": [
            (
                method, s.report["iterations"], history[-1][0], history[0][1], history[-1][1],
                next((t for t, e in history if e <= 1.01 * lowest), np.nan),
            )
            for method, (s, history) in runs.items()
        ],
    }  # fmt: skip


def main(zip_path, output, *names):
    rows = [measure(problem) for problem in problems(Path(zip_path), names or USUAL)]
    places = [
        (row["name"], name, f"{energy:.5f}", *(f"{d:.2f}" for d in distances))
        for row in rows
        for name, energy, *distances in row["places"]
    ]
    times = [
        (
            row["name"], f"{row['vertices']:,}", row["bones"], f"{1000 * row['setup']:.0f} ms",
            f"{1000 * row['step']:.0f} ms", f"{1000 * row['iteration']:.0f} ms",
            f"{row['step'] / row['iteration']:.1f}",
        )
        for row in rows
    ]  # fmt: skip
    methods = [
        (
            row["name"], method, iterations, f"{seconds:.2f}", f"{before:.5f}", f"{after:.5f}",
            f"{near:.2f}",
        )
        for row in rows
        for method, iterations, seconds, before, after, near in row["methods"]
    ]  # fmt: skip
    head = ("character", "joints", "energy", "from artist's", "across", "from optimized", "across")
    write_page(
        Path(output), "joints", "Joints", NOTE,
        table(head, places),
        TIMES_NOTE,
        table(
            ["character", "vertices", "bones", "set-up", "step", "weights", "step / weights"], times
        ),
        METHODS_NOTE,
        table(["character", "method", "iterations", "s", "before", "after", "s to 1 %"], methods),
        rows=rows,
    )  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
