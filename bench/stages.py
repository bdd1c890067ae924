"""Measures the seconds that each stage of the work takes, for each character.

stages.py ZIP OUTPUT_FOLDER [CHARACTER...]     (called by bench.py)"""

import sys
from pathlib import Path

import plots
import stage_times
from problems import problems
from results import say, table, write_page

REPEATS = 3
NOTE = f"""\
The test uses default settings on all processors, without Blender, and reports the fastest of
{REPEATS} runs. Shares refer to the total time, from the arrays to the
weights.{stage_times.ABOUT}"""


def measure(problem):
    """The fastest of several solves."""
    run = stage_times.fastest(problem.solver, REPEATS)
    row = {
        "name": problem.name, "vertices": problem.vertices, "bones": problem.bones,
        "iterations": run["report"]["iterations"], "seconds": run["seconds"],
    }  # fmt: skip
    say(f"{row['name']}: {row['seconds']['total']:.3f} s")
    return row


def share(row, stage):
    """The share in percent."""
    return 100 * row["seconds"][stage] / row["seconds"]["total"]


def draw(rows, output):
    fig, [[axes]] = plots.figure(width=9, height=1.4 + 0.25 * len(rows))
    left = [0.0] * len(rows)
    for stage in stage_times.stages(rows):
        width = [share(row, stage) for row in rows]
        look = {"color": stage_times.color(stage), "label": stage, "height": 0.75}
        axes.barh(range(len(rows)), width, left=left, **look)
        left = [a + b for a, b in zip(left, width, strict=True)]
    rest = [100 - share for share in left]
    look = {"color": stage_times.REST, "label": "rest", "height": 0.75}
    axes.barh(range(len(rows)), rest, left=left, **look)
    for place, row in enumerate(rows):
        axes.text(101, place, f"{row['seconds']['total']:.2f} s", va="center")
    plots.name_rows(axes, [row["name"] for row in rows])
    axes.set_xlim(0, 100)
    axes.set_xlabel("share of the time in %; right: seconds in all")
    plots.legend_above(fig, axes, 7)
    return plots.save(fig, output, "stages.png")


def main(zip_path, output, *names):
    output = Path(output)
    rows = [measure(problem) for problem in problems(Path(zip_path), names)]
    stages = stage_times.stages(rows)
    head = ("character", "vertices", "bones", "iterations", "seconds", *(f"{s} %" for s in stages))
    lines = [
        (
            row["name"], f"{row['vertices']:,}", row["bones"], row["iterations"],
            f"{row['seconds']['total']:.3f}", *(f"{share(row, stage):.0f}" for stage in stages),
        )
        for row in rows
    ]  # fmt: skip
    write_page(
        output, "stages", "Time per stage", f"{NOTE}\n{stage_times.left_out(rows)}",
        table(head, lines), pictures=[draw(rows, output)], rows=rows,
    )  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
