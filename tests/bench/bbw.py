"""Our weights beside bounded biharmonic weights (Jacobson et al. 2011; libigl), which want a tet
mesh of the inside.

bbw.py ZIP OUTPUT_FOLDER [CHARACTER...]     (bench.py calls it)"""

import sys
import time
from pathlib import Path

import araplbs
import igl
import numpy as np
import plots
from problems import Problem, problems
from results import say, table, write_page
from synthetic import creature
from tets import NoTets, fill

ACTIVE_SET = 8  # iterations at most, as in libigl's tutorial
MOST = 5_000  # vertices: 13,000 with 163 bones take more than five minutes
REPEATS = 2
NOTE = f"""\
Characters whose surface is closed and free of intersections, so that TetGen can fill it, up to
{MOST:,} vertices, and a synthetic one. *tets*: seconds of TetGen, with vertices on the bones;
*BBW*: `igl.bbw` with at most {ACTIVE_SET} active-set iterations, one bone after another or side
by side as libigl sees fit; ours with default settings and all processors, on the surface alone.
*Ratio*: tets and BBW over ours with 4 influences. Energies: on 100 random poses that no
optimization has seen, surface only, BBW normalized; the columns are their roots, the mean stretch
of edges. Bones that are nowhere inside have no BBW handle and get no weights (*outside*)."""


def synthetic():
    """A Problem of a few thousand vertices that needs no data."""
    vertices, triangles, heads, tails, parents = creature(3_000, 3, 3)
    arguments = {
        "vertices": vertices, "triangles": triangles, "edges": np.zeros((0, 2), int),
        "bone_heads": heads, "bone_tails": tails, "bone_parents": parents,
        "bone_deform": np.ones(len(heads), bool),
    }  # fmt: skip
    unseen = araplbs.sample_poses(heads, tails, parents, 100, seed=1)
    return Problem("synthetic", arguments, unseen, None)


def timed(function, repeats=REPEATS):
    """(seconds of the fastest call, what it gave)."""
    best = np.inf
    for _ in range(repeats):
        start = time.perf_counter()
        result = function()
        best = min(best, time.perf_counter() - start)
    return best, result


def solve(problem, limit):
    solver = problem.solver(max_influences=limit)
    solver.solve()
    return solver.sparse_weights


def biharmonic(nodes, tets, handles, owners, bones):
    """(nodes, bones) weights; columns of bones without a handle are zero."""
    with_handle = np.unique(owners)
    targets = (owners[:, None] == with_handle).astype(float)
    weights = np.zeros((len(nodes), bones))
    weights[:, with_handle] = igl.bbw(nodes, tets, handles, targets, max_iter=ACTIVE_SET)
    weights = np.maximum(weights, 0)
    return weights / weights.sum(1, keepdims=True)


def measure(problem):
    a = problem.arguments
    deform = np.flatnonzero(a["bone_deform"])
    size = np.ptp(a["vertices"], axis=0).max()  # libigl's tolerances are absolute
    scaled = (a["vertices"] / size, a["triangles"], a["bone_heads"] / size, a["bone_tails"] / size)
    shape = (*scaled[:2], *(ends[deform] for ends in scaled[2:]))
    tet_seconds, (nodes, tets, place, handles, owners) = timed(lambda: fill(*shape))
    row = {
        "name": problem.name, "vertices": problem.vertices, "bones": len(deform),
        "outside": len(deform) - len(np.unique(owners)), "nodes": len(nodes), "tets": len(tets),
        "tet_seconds": tet_seconds,
    }  # fmt: skip
    row["bbw_seconds"], found = timed(lambda: biharmonic(nodes, tets, handles, owners, len(deform)))
    weights = np.zeros((problem.vertices, len(a["bone_heads"])))
    weights[:, deform] = found[place]
    row["bbw"] = problem.energy(weights, problem.unseen)
    for key, limit in (("four", 4), ("any", 0)):
        row[f"{key}_seconds"], rows = timed(lambda limit=limit: solve(problem, limit))
        row[key] = problem.energy(rows, problem.unseen)
    say(*row.values())
    return row


def draw(rows, output):
    fig, [[time_axes, energy]] = plots.figure(
        2, width=9, height=1.6 + 0.3 * len(rows), sharey=True
    )  # fmt: skip
    kinds = (
        ("bbw", "BBW (with tets)", plots.ORANGE, "s"), ("four", "ours, 4 influences", plots.BLUE,
        "o"), ("any", "ours, no limit", plots.GREEN, "^"),
    )  # fmt: skip
    places = range(len(rows))
    for key, label, color, marker in kinds:
        look = {"color": color, "marker": marker, "s": 45, "zorder": 3}
        extra = [row["tet_seconds"] if key == "bbw" else 0 for row in rows]
        seconds = [row[f"{key}_seconds"] + more for row, more in zip(rows, extra, strict=True)]
        time_axes.scatter(seconds, places, label=label, **look)
        energy.scatter([100 * np.sqrt(row[key]) for row in rows], places, **look)
    for axes in (time_axes, energy):
        axes.set_xscale("log")
        plots.plain_numbers(axes.xaxis)
    plots.plain_minor(energy.xaxis)
    time_axes.set_xlabel("seconds")
    energy.set_xlabel("mean stretch of edges on unseen poses in %")
    plots.name_rows(time_axes, [row["name"] for row in rows])
    plots.legend_above(fig, time_axes, 3)
    return plots.save(fig, output, "bbw.png")


def cells(row):
    whole = row["tet_seconds"] + row["bbw_seconds"]
    return (
        row["name"], f"{row['vertices']:,}", row["bones"], row["outside"], f"{row['nodes']:,}",
        f"{row['tets']:,}", f"{row['tet_seconds']:.2f}", f"{row['bbw_seconds']:.2f}",
        f"{row['four_seconds']:.2f}", f"{row['any_seconds']:.2f}",
        f"{whole / row['four_seconds']:.1f}",
        *(f"{100 * np.sqrt(row[key]):.2f}" for key in ("bbw", "four", "any")),
    )  # fmt: skip


def measure_fillable(measure, zip_path, names):
    """(what `measure` says of each problem that TetGen fills, a line on those left out, if any)."""
    rows, left_out = [measure(synthetic())], []
    for problem in problems(Path(zip_path), names):
        try:
            if problem.vertices > MOST:
                raise NoTets(f"{problem.vertices:,} vertices")
            rows.append(measure(problem))
        except NoTets as reason:
            left_out.append(f"{problem.name} ({reason})")
            say(left_out[-1])
    line = f"Left out: {', '.join(left_out)}."
    return rows, [line] if left_out else []


def main(zip_path, output, *names):
    output = Path(output)
    rows, left_out = measure_fillable(measure, zip_path, names)
    head = (
        "character", "vertices", "bones", "outside", "nodes", "tets", "tets s", "BBW s", "ours 4 s",
        "ours any s", "ratio", "stretch % BBW", "ours 4", "ours any",
    )  # fmt: skip
    blocks = [NOTE, table(head, map(cells, rows)), *left_out]
    write_page(
        output, "bbw", "Beside bounded biharmonic weights", *blocks,
        pictures=[draw(rows, output)], rows=rows,
    )  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
