"""Compares our weights with Blender's automatic weights on unchanged and on subdivided characters.

heat.py ZIP OUTPUT_FOLDER [CHARACTER...]     (called by bench.py)

Environment: BENCH_LEVELS="0,1", the numbers of subdivisions. The results over all characters are
also written into README.md (readme.py)."""

import json
import math
import os
import sys
from pathlib import Path

import numpy as np
import plots
import readme
from in_blender import BUILD, ROOT, run_in_blender
from problems import characters
from results import table, write_page

LEVELS = os.environ.get("BENCH_LEVELS", "0,1")
LIMIT = 3600  # seconds for all
CLASSES = {  # of vertices, from and to
    "below 1,000": (0, 1_000),
    "1,000 to 10,000": (1_000, 10_000),
    "above 10,000": (10_000, math.inf),
}
HEAD = (
    "character", "vertices", "bones", "Blender s", "ours s", "ratio", "Blender processor s",
    "ours", "ratio", "MiB B/o", "unweighted B/o",
)  # fmt: skip
NOTE = """\
*B* is Blender's `parent_set(type='ARMATURE_AUTO')`. *o* is our complete operator, from the
click to the finished vertex groups, on all processors. B and o run alternately in one process
of Blender {version}. Times are the fastest of 3 runs, or of 5 runs below 5,000 vertices. *s*:
wall-clock seconds, and processor seconds including system time. *x4*: subdivided once
(Catmull-Clark), up to about 60,000 vertices. An asterisk means that the method left vertices of
faces without weights. *bones*: the number of bones flagged Deform. *MiB*: peak memory beyond
the memory of the process before the run. The page [seen](seen.md) compares the visible measures
of both methods."""
MEDIANS = """\
The table lists medians of ours / Blender, over the characters on which Blender's weights succeed,
and over all characters. A value below 1 means that our operator is faster. The plot includes the
subdivided meshes (x4)."""


def measure(zip_path, paths):
    """(rows of measure.py, lines on failures); a process that fails loses only its own
    character."""
    result, rows, failures = BUILD / "heat.jsonl", [], []
    left = dict(paths)
    while left:
        result.unlink(missing_ok=True)
        error = run_in_blender(
            "measure.py", zip_path, result, LEVELS, *left.values(), limit=LIMIT
        )  # fmt: skip
        text = result.read_text(encoding="utf-8") if result.exists() else ""
        found = [json.loads(line) for line in text.splitlines()]
        rows += found
        if not error:
            break
        done = {row["character"] for row in found}
        names = list(left)
        reached = max((names.index(name) for name in done), default=-1)
        whole = sum(row["character"] == names[reached] for row in found) == len(LEVELS.split(","))
        failed = reached + (whole or reached < 0)
        if failed < len(names):
            failures.append(f"{names[failed]}: {error}")
        left = {name: left[name] for name in names[failed + 1 :]}
    return rows, failures


def ratio(row, key="seconds"):
    return row["ours"][key] / max(row["blender"][key], 1e-9)


def line(row):
    blender, ours = row["blender"], row["ours"]
    mark = "*" if blender["unweighted"] else ""
    wall, processor = "seconds", "processor_seconds"
    return (
        row["character"] + (f" x{4 ** row['levels']}" if row["levels"] else ""),
        f"{row['vertices']:,}", row["bones"],
        f"{blender[wall]:.3g}{mark}", f"{ours[wall]:.3g}", f"{ratio(row):.2f}",
        f"{blender[processor]:.3g}", f"{ours[processor]:.3g}", f"{ratio(row, processor):.2f}",
        f"{blender['more_mib']:.0f}/{ours['more_mib']:.0f}",
        f"{blender['unweighted']}/{ours['unweighted']}",
    )  # fmt: skip


def of_class(rows, name):
    low, high = CLASSES[name]
    return [row for row in rows if low <= row["vertices"] < high]


def succeeds(rows):
    """The rows in which Blender leaves no vertex without weights."""
    return [row for row in rows if not row["blender"]["unweighted"]]


def median(rows, key="seconds"):
    return f"{np.median([ratio(row, key) for row in rows]):.2f}" if rows else "-"


def medians(rows):
    """A table by size."""
    lines = []
    for name in CLASSES:
        for what, levels in (("", [0]), (", x4 among them", None)):
            those = [
                row for row in of_class(rows, name) if levels is None or row["levels"] in levels
            ]
            whole = succeeds(those)
            lines.append(
                [name + what, f"{len(whole)} of {len(those)}", median(whole),
                 median(whole, "processor_seconds"), median(those),
                 median(those, "processor_seconds")]
            )  # fmt: skip
    head = ["vertices", "succeeds", "wall", "processor", "all: wall", "processor"]
    return table(head, lines)


def draw(rows, output):
    fig, [[time, times]] = plots.figure(2, width=11, height=4.8)
    looks = {"blender": ("Blender", plots.ORANGE, "s"), "ours": ("ours", plots.BLUE, "o")}
    vertices = [row["vertices"] for row in rows]
    for key, (label, color, marker) in looks.items():
        look = {"marker": marker, "color": color, "s": 26, "zorder": 3}
        time.scatter(vertices, [row[key]["seconds"] for row in rows], label=label, **look)
    failed = [row for row in rows if row["blender"]["unweighted"]]
    look = {"marker": "x", "color": plots.BLACK, "s": 26, "zorder": 4}
    time.scatter(
        [row["vertices"] for row in failed], [row["blender"]["seconds"] for row in failed],
        label="leaves vertices without weights", **look,
    )  # fmt: skip
    times.scatter(vertices, list(map(ratio, rows)), color=plots.BLUE, s=26, zorder=3)
    times.scatter([row["vertices"] for row in failed], list(map(ratio, failed)), **look)
    for name, (low, high) in CLASSES.items():
        known = [ratio(row) for row in succeeds(of_class(rows, name))]
        ends = [max(low, min(vertices)), min(high, max(vertices))]
        if known:
            label = None if times.get_legend_handles_labels()[0] else "median"
            times.plot(ends, [np.median(known)] * 2, color=plots.BLACK, linewidth=2, label=label)
    times.axhline(1, color=plots.GRAY, linewidth=1)
    for axes in (time, times):
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel("vertices")
        for axis in (axes.xaxis, axes.yaxis):
            plots.plain_numbers(axis)
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)
    plots.plain_multiples(times.yaxis)
    time.set_ylabel("seconds")
    times.set_ylabel("ours / Blender, wall")
    return plots.save(fig, output, "heat.png")


def main(zip_path, output, *names):
    output = Path(output)
    rows, failures = measure(zip_path, characters(names))
    if not rows:
        sys.exit(f"bench: {'; '.join(failures)}")
    note = NOTE.format(version=rows[0]["blender_version"])
    write_page(
        output, "heat", "Time compared with Blender's automatic weights", note, MEDIANS,
        medians(rows), "## All", table(HEAD, map(line, rows)), *failures,
        pictures=[draw(rows, output)], rows=rows,
    )  # fmt: skip
    if not names and not failures and output == ROOT / "docs/bench":
        readme.fill()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
