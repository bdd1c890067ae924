"""Where the time goes: seconds per stage of the work for each character.

stages.py ZIP OUTPUT_FOLDER [CHARACTER...]     (bench.py calls it)"""

import sys
import time
from pathlib import Path

import plots
from problems import problems
from results import say, table, write_page

REPEATS = 5
NOTE = """\
Default settings, all processors, without Blender; the fastest of several runs. Shares are those
of the whole time. *mesh*: checks, welding, links between parts, elimination order, symmetry;
*truss*: spokes; *visibility*: which bones each vertex sees; *heat*: initial weights; *levels*:
coarser meshes; *maps*: the choice of influences; *assembly*: matrices; *local*: local steps and
energies; *solve*: back-substitutions; *result*: tidy weights and their energy; *other*: the Python
boundary."""

COLORS = {
    "mesh": plots.GRAY, "truss": "#bcbd22", "visibility": plots.ORANGE, "heat": plots.RED,
    "poses": plots.BLACK, "levels": "#e377c2", "maps": "#17becf", "assembly": plots.PURPLE,
    "factor": plots.GREEN, "local": plots.BLUE, "solve": plots.SKY, "result": "#aec7e8",
    "other": "#dddddd",
}  # fmt: skip
UNKNOWN = "#8c564b"


def measure(problem):
    """Seconds per stage of the fastest of several solves."""
    best = None
    for _ in range(REPEATS):
        start = time.perf_counter()
        solver = problem.solver()
        solver.solve()
        report = solver.report  # with the weights that are handed out
        total = time.perf_counter() - start
        if best is None or total < best["total"]:
            stages = report["seconds"]
            stages["other"] = max(0, total - sum(stages.values()))
            best = {"total": total, "iterations": report["iterations"], "stages": stages}
    best.update(name=problem.name, vertices=problem.vertices, bones=problem.bones)
    say(f"{problem.name}: {best['total']:.3f} s")
    return best


def draw(rows, output):
    fig, [[axes]] = plots.figure(width=9, height=1.4 + 0.25 * len(rows))
    left = [0.0] * len(rows)
    for stage in rows[0]["stages"]:
        share = [100 * row["stages"][stage] / row["total"] for row in rows]
        axes.barh(
            range(len(rows)),
            share,
            left=left,
            color=COLORS.get(stage, UNKNOWN),
            label=stage,
            height=0.75,
        )
        left = [a + b for a, b in zip(left, share, strict=True)]
    for place, row in enumerate(rows):
        axes.text(101, place, f"{row['total']:.2f} s", va="center")
    plots.name_rows(axes, [row["name"] for row in rows])
    axes.set_xlim(0, 100)
    axes.set_xlabel("share of the time in %; right: seconds in all")
    plots.legend_above(fig, axes, 5)
    return plots.save(fig, output, "stages.png")


def main(zip_path, output, *names):
    output = Path(output)
    rows = [measure(problem) for problem in problems(Path(zip_path), names)]
    stages = list(rows[0]["stages"])
    head = ("character", "vertices", "bones", "iterations", "seconds", *(f"{s} %" for s in stages))
    lines = [
        (
            row["name"], f"{row['vertices']:,}", row["bones"], row["iterations"],
            f"{row['total']:.3f}",
            *(f"{100 * row['stages'][stage] / row['total']:.0f}" for stage in stages),
        )
        for row in rows
    ]  # fmt: skip
    write_page(
        output, "stages", "Time per stage", NOTE, table(head, lines),
        pictures=[draw(rows, output)], rows=rows,
    )  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
