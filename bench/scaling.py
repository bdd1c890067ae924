"""Measures time and memory from 1,000 vertices to BENCH_MOST.

scaling.py ZIP OUTPUT_FOLDER     (called by bench.py)

Environment: BENCH_MOST=300000 (vertices); 1000000 adds the case with 200 bones."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import machine
import plots
import stage_times
from results import say, table, write_page

MOST = int(os.environ.get("BENCH_MOST", "300000"))
SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
FIFTY, TWO_HUNDRED = (6, 4), (12, 8)  # bones of the spine, of an arm: 54 and 204 in all
MEMORY = 0.7  # share of the free memory that a case may take
LIMIT = 3600  # seconds for a case
NOTE = f"""\
The test uses a synthetic creature, a spine with arms on both sides in one closed mesh
(`bench/synthetic.py`), with default settings. Each size runs in its own process, which may
use {100 * MEMORY:.0f} % of the free memory. The table lists the time of each [stage](stages.md) in
seconds, for the smaller sizes as the fastest of several runs. *MiB*: peak memory minus the memory
of the mesh alone. `BENCH_MOST=1000000` adds a size of one million vertices. {{}}"""


def guard():
    """Limits the memory of the child process, so it fails instead of blocking the machine."""
    most = int(MEMORY * machine.memory_available())
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def measure(vertices, shape, threads, repeats):
    """The result of one_size.py, or a line that states why it failed."""
    command = [
        sys.executable, Path(__file__).with_name("one_size.py"), vertices, *shape, threads, repeats
    ]  # fmt: skip
    try:
        child = subprocess.run(
            [str(word) for word in command], capture_output=True, text=True, timeout=LIMIT,
            preexec_fn=guard, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"longer than {LIMIT} s"
    if child.returncode:
        lines = child.stderr.strip().splitlines()
        return lines[-1] if lines else f"exit code {child.returncode}"
    row = json.loads(child.stdout)
    say(f"{row['vertices']:,} vertices, {threads} threads: {row['seconds']['total']:.2f} s")
    return row


def repeats(vertices):
    return 5 if vertices <= 10_000 else 2 if vertices <= 100_000 else 1


def measure_all():
    """(rows, lines on failures)."""
    cases = [(n, FIFTY) for n in SIZES if n <= MOST]
    cases += [(n, TWO_HUNDRED) for n in SIZES[-1:] if n <= MOST]
    found = [(n, measure(n, shape, machine.processors(), repeats(n))) for n, shape in cases]
    rows = [row for _, row in found if not isinstance(row, str)]
    return rows, [f"{n:,} vertices: {row}" for n, row in found if isinstance(row, str)]


def draw(rows, output):
    """Time per vertex as bars, of constant height if nothing grows faster than the mesh."""
    fig, [[time, memory]] = plots.figure(2, width=11, height=4.8)
    places = range(len(rows))
    bottom = [0.0] * len(rows)
    for stage in stage_times.stages(rows):
        height = [1e6 * row["seconds"][stage] / row["vertices"] for row in rows]
        time.bar(places, height, bottom=bottom, color=stage_times.color(stage), label=stage)
        bottom = [a + b for a, b in zip(bottom, height, strict=True)]
    each = [row["own"] / 2**20 / row["vertices"] * 1000 for row in rows]
    memory.bar(places, each, color=plots.BLUE)
    for place, row in enumerate(rows):
        look = {"ha": "center", "va": "bottom"}
        time.text(place, bottom[place], f"{row['seconds']['total']:.3g} s", **look)
        memory.text(place, each[place], f"{row['own'] / 2**20:,.0f}", **look)
    names = [
        f"{row['vertices']:,}" + (f"\n{row['bones']} bones" if row["bones"] != 54 else "")
        for row in rows
    ]  # fmt: skip
    for axes in (time, memory):
        axes.set_xticks(places, names, rotation=30, ha="right")
        axes.grid(False, axis="x")
        axes.set_xlabel("vertices")
    time.set_ylabel("µs per vertex; on top: seconds in all")
    memory.set_ylabel("peak MiB per 1,000 vertices; on top: MiB")
    plots.legend_above(fig, time, 6)
    return plots.save(fig, output, "scaling.png")


def size_table(rows):
    head = (
        "vertices", "bones", "seconds", *stage_times.stages(rows), "iterations", "unknowns",
        "factor MiB", "MiB", "MiB per 1,000",
    )  # fmt: skip
    return table(head, [
        (
            f"{row['vertices']:,}", row["bones"], f"{row['seconds']['total']:.3g}",
            *(f"{row['seconds'][stage]:.2g}" for stage in stage_times.stages(rows)),
            row["iterations"], f"{row['unknowns']:,}", f"{row['factor_bytes'] / 2**20:,.1f}",
            f"{row['own'] / 2**20:,.0f}", f"{row['own'] / 2**20 / row['vertices'] * 1000:.1f}",
        )
        for row in rows
    ])  # fmt: skip


def main(_zip_path, output):
    output = Path(output)
    rows, failures = measure_all()
    write_page(
        output, "scaling", "Scaling", NOTE.format(stage_times.left_out(rows)),
        size_table(rows), *failures, pictures=[draw(rows, output)], rows=rows,
    )  # fmt: skip
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
