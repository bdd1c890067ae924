"""Weights solved on tets inside a character beside those solved on its surface.

volumes.py ZIP OUTPUT_FOLDER [CHARACTER...]     (bench.py calls it)"""

import sys
from pathlib import Path

import araplbs
import numpy as np
from bbw import MOST, biharmonic, measure_fillable, timed
from results import say, table, write_page
from tets import fill

NOTE = f"""\
Characters that TetGen can fill, up to {MOST:,} vertices, and a synthetic one. *surface*: default
settings; *heat*, *BBW*: the same on the tets, from heat and from bounded biharmonic weights as
initial weights; the vertices of the surface are vertices of the tets. Energies of the surface
alone: their roots, the mean stretch of its edges in %, on 100 random poses that no optimization has
seen and, where there is one, on the animation. Seconds without those of TetGen (*fill*). *no
levels*: heat on the tets without coarse levels. *ours/igl*: our bounded biharmonic weights alone
(no coarse level, bones that have vertices on them) and those of libigl: seconds, and the mean
difference of a weight. mh_hand_tet has 575 loose
vertices inside. They, not its surface, are where its bones are held, so two nearly vanish
from the surface: its columns do not compare."""


def arguments_of(problem, nodes, tets):
    """Those of a Solver for the volume."""
    a = {k: v for k, v in problem.arguments.items() if k != "symmetry"}
    return {**a, "vertices": nodes, "triangles": None, "edges": None, "tets": tets}


def solve(arguments, **options):
    solver = araplbs.Solver(**arguments, **options)
    solver.solve()
    return solver.weights


def stretch(problem, weights):
    """Of the surface, in %: on unseen poses, and on the animation or None."""
    sets = (problem.unseen, problem.animation)
    return [None if p is None else 100 * np.sqrt(problem.energy(weights, p)) for p in sets]


def compare_biharmonic(problem, nodes, tets, handles, owners):
    """(our seconds, those of libigl, mean difference of a weight). Only bones with handles."""
    a = problem.arguments
    deform = np.flatnonzero(a["bone_deform"])
    bones = deform[np.unique(owners)]
    owners = np.unique(owners, return_inverse=True)[1]
    size = np.ptp(a["vertices"], axis=0).max()  # libigl's tolerances are absolute
    seconds, expected = timed(
        lambda: biharmonic(nodes / size, tets, handles, owners, len(bones)), repeats=1
    )
    own_seconds, solver = timed(
        lambda: araplbs.Solver(
            nodes, None, a["bone_heads"][bones], a["bone_tails"][bones],
            np.full(len(bones), -1), tets=tets, initial="bbw", coarsen=0, pose_count=1,
            max_influences=0, support=(1, 1.0, 0.0), heat_floor=0.0, widenings=0,
        ), repeats=1,
    )  # fmt: skip
    return own_seconds, seconds, np.abs(solver.initial_weights - expected).mean()


def measure(problem):
    a = problem.arguments
    deform = np.flatnonzero(a["bone_deform"])
    ends = a["bone_heads"][deform], a["bone_tails"][deform]
    seconds, (nodes, tets, place, handles, owners) = timed(
        lambda: fill(a["vertices"], a["triangles"], *ends), repeats=1
    )
    volume = arguments_of(problem, nodes, tets)
    row = {
        "name": problem.name, "vertices": problem.vertices, "bones": len(deform),
        "nodes": len(nodes), "tets": len(tets), "fill": seconds,
    }  # fmt: skip
    surface = {k: v for k, v in a.items() if k != "symmetry"}
    ways = {
        "surface": (surface, {}), "heat": (volume, {}), "bbw": (volume, {"initial": "bbw"}),
        "flat": (volume, {"coarsen": 0}),
    }  # fmt: skip
    for key, (arguments, options) in ways.items():
        row[f"{key}_seconds"], weights = timed(
            lambda arguments=arguments, options=options: solve(arguments, **options)
        )
        weights = weights if key == "surface" else weights[place]
        row[key], row[f"{key}_animation"] = stretch(problem, weights)
    row["own_bbw"], row["igl_bbw"], row["difference"] = compare_biharmonic(
        problem, nodes, tets, handles, owners
    )
    say(*row.values())
    return row


def cells(row):
    keys = ("surface", "heat", "bbw", "flat")
    moved = [row[f"{key}_animation"] for key in keys]
    return (
        row["name"], f"{row['vertices']:,}", row["bones"], f"{row['nodes']:,}", f"{row['tets']:,}",
        *(f"{row[key]:.2f}" for key in keys),
        *("" if value is None else f"{value:.2f}" for value in moved[:3]),
        f"{row['fill']:.2f}", *(f"{row[f'{key}_seconds']:.2f}" for key in keys),
        f"{row['own_bbw']:.2f} / {row['igl_bbw']:.2f}, {row['difference']:.1e}",
    )  # fmt: skip


def main(zip_path, output, *names):
    rows, left_out = measure_fillable(measure, zip_path, names)
    head = (
        "character", "vertices", "bones", "nodes", "tets", "unseen: surface", "heat", "BBW",
        "no levels", "animation: surface", "heat", "BBW", "s: fill", "surface", "heat", "BBW",
        "no levels", "ours / igl s, difference",
    )  # fmt: skip
    blocks = [NOTE, table(head, map(cells, rows)), *left_out]
    write_page(Path(output), "volumes", "Volumes beside surfaces", *blocks, rows=rows)


if __name__ == "__main__":
    main(*sys.argv[1:])
