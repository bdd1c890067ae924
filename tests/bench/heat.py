"""Our weights beside Blender's automatic weights, on characters subdivided 0, 1 and 2 times.

heat.py ZIP OUTPUT_FOLDER [CHARACTER...]     (bench.py calls it)

Environment: BENCH_LEVELS="0 1 2", BENCH_MOST=150000 (vertices: larger cases are left out)."""

import json
import math
import os
import sys
from pathlib import Path

import plots
from in_blender import BUILD, run_in_blender
from problems import characters
from results import say, table, write_page

LEVELS = [int(level) for level in os.environ.get("BENCH_LEVELS", "0 1 2").split()]
MOST = int(os.environ.get("BENCH_MOST", "150000"))
LIMIT = 1800  # seconds for one case

HEAD = (
    "character", "vertices", "bones", "Blender s", "ours s", "ratio", "start s", "iteration s",
    "its", "MiB B/o", "stretch % B", "ours", "file", "worst % B/o", "animation % B", "ours", "file",
    "unweighted B/o",
)  # fmt: skip


NOTE = """\
B: Blender's `parent_set(type='ARMATURE_AUTO')` in the same process, o: ours, the whole operator;
asterisk: it left vertices without weights. *stretch*: root of the relative ARAP energy on 100
poses not used before; *worst*: its 99th percentile over the vertices; *file*: the weights that
came with the character."""


def measure(zip_path, path, levels):
    """What measure.py found, or a line on why it failed."""
    result = BUILD / "row.json"
    result.unlink(missing_ok=True)
    error = run_in_blender("measure.py", zip_path, path, levels, result, limit=LIMIT)
    return error or json.loads(result.read_text())


def percent(energy):
    return "-" if energy is None else f"{100 * math.sqrt(max(energy, 0)):.1f}"


def worst(outcome):
    stretch = outcome["worst_stretch"]
    return "-" if stretch is None else f"{100 * stretch:.0f}"


def line(row):
    blender, ours, file = row["blender"], row["ours"], row.get("file", {})
    failed = blender["unweighted"] > 0
    energy = lambda who, key: percent(who.get(key))  # noqa: E731
    mark = "*" if failed else ""
    return (
        row["character"] + (f" x{4 ** row['levels']}" if row["levels"] else ""),
        f"{row['vertices']:,}", row["bones"], f"{blender['seconds']:.2f}{mark}",
        f"{ours['seconds']:.2f}", f"{ours['seconds'] / max(blender['seconds'], 1e-9):.1f}",
        f"{row['initial_seconds']:.2f}", f"{row['iteration_seconds']:.3f}", row["iterations"],
        f"{blender['peak_mib']:.0f}/{ours['peak_mib']:.0f}",
        energy(blender, "energy") + mark, energy(ours, "energy"), energy(file, "energy"),
        f"{worst(blender)}/{worst(ours)}",
        energy(blender, "animation_energy") + mark, energy(ours, "animation_energy"),
        energy(file, "animation_energy"), f"{blender['unweighted']}/{ours['unweighted']}",
    )  # fmt: skip


def draw(rows, output):
    fig, [[time, stretch]] = plots.figure(2, width=10, height=4.6)
    vertices = [row["vertices"] for row in rows]
    looks = {
        "blender": ("Blender", plots.ORANGE, "s"), "ours": ("ours", plots.BLUE, "o"),
    }  # fmt: skip
    for key, (label, color, marker) in looks.items():
        look = {"marker": marker, "color": color, "s": 28, "zorder": 3}
        time.scatter(vertices, [row[key]["seconds"] for row in rows], label=label, **look)
    failed = [row for row in rows if row["blender"]["unweighted"]]
    time.scatter(
        [row["vertices"] for row in failed], [row["blender"]["seconds"] for row in failed],
        marker="x", color=plots.BLACK, s=28, zorder=4, label="leaves vertices without weights",
    )  # fmt: skip
    time.set_yscale("log")
    time.set_xscale("log")
    time.set_xlabel("vertices")
    time.set_ylabel("seconds")
    whole = [row for row in rows if not row["blender"]["unweighted"]]
    x = [100 * math.sqrt(row["blender"]["energy"]) for row in whole]
    stretch.scatter(
        x, [100 * math.sqrt(row["ours"]["energy"]) for row in whole], color=plots.BLUE, s=28,
        zorder=3,
    )  # fmt: skip
    ends = [0, 1.05 * max(x, default=1)]
    stretch.plot(ends, ends, color=plots.BLACK, linewidth=1)
    stretch.annotate("as Blender", [0.93 * ends[1]] * 2, ha="right", va="bottom")
    stretch.set_xlim(ends)
    stretch.set_ylim(ends)
    stretch.set_xlabel("mean stretch on unseen poses in %, Blender")
    stretch.set_ylabel("ours")
    for axis in (time.xaxis, time.yaxis):
        plots.plain_numbers(axis)
    plots.legend_above(fig, time, 3)
    return plots.save(fig, output, "heat.png")


def main(zip_path, output, *names):
    output = Path(output)
    rows, failures = [], []
    for name, path in characters(names).items():
        vertices = 0
        for levels in LEVELS:
            if 4 * vertices > MOST:
                say(f"{name} x{4**levels}: left out, about {4 * vertices:,} vertices")
                break
            row = measure(zip_path, path, levels)
            if isinstance(row, str):
                failures.append(f"{name} x{4**levels}: {row}")
                say(failures[-1])
                break
            vertices = row["vertices"]
            rows.append(row)
            say(" | ".join(str(cell) for cell in line(row)))
    write_page(
        output, "heat", "Beside Blender's automatic weights", NOTE, table(HEAD, map(line, rows)),
        *failures, pictures=[draw(rows, output)], rows=rows,
    )  # fmt: skip
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
