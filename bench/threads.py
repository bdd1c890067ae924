"""Measures the time with 1 to all processors, on a character and on a synthetic creature.

threads.py ZIP OUTPUT_FOLDER     (called by bench.py)

Environment: BENCH_MOST=300000 (vertices); 1000000 adds a creature of a million vertices."""

import sys
from pathlib import Path

import araplbs
import machine
import plots
import stage_times
from problems import characters, problems
from results import say, table, write_page
from scaling import FIFTY, MOST
from synthetic import creature

CHARACTER = "mh_game"
SIZES = {30_000: 3, 100_000: 2, 1_000_000: 1}  # vertices of the creature: runs with each count
RUNS = 3  # of the character
CROWDS = (2, 4, 16)  # processors of `saved_seconds` in a report
NOTE = f"""\
The test uses {CHARACTER} of the [characters](stages.md) and the synthetic creature of
[scaling](scaling.md) with default settings. Thread counts alternate. The table shows the
fastest of {RUNS} runs, or of {SIZES[100_000]} and 1 runs for the larger creatures. The table
lists seconds in total and per [stage](stages.md). *Side by side*: the share of the work that
runs in parallel, estimated from the speedup by Amdahl's law. `BENCH_MOST=1000000` adds a size
of one million vertices. {{}}"""
MORE = """\
## What more processors would bring

The numbers are computed from the report of the run on one thread. *Can be shared*: the share of the
time in parallel sections, in factorizations, and in asynchronous work. *Simulated*: the speedup on
the given number of processors. The simulation assumes that the chunks of a section take equally
long (c chunks on p processors take c / p, rounded up). A factorization takes the time of its
longest path through the elimination tree plus a p-th of the rest. Two asynchronous tasks take the
time of the longer one, and all threads of a section except one start 20 us late. The simulation
ignores memory stalls, and clock rates that fall when all processors are busy. *Measured*: the
speedup in the table above."""


def counts():
    """1, 2, 4 and so on, and all processors."""
    most = machine.processors()
    return sorted({most, *(2**k for k in range(most.bit_length()) if 2**k <= most)})


def cases(zip_path):
    """(name, vertices, function that creates a solver for a number of threads, runs)."""
    if CHARACTER in characters([]):
        [problem] = problems(zip_path, [CHARACTER])
        yield CHARACTER, problem.vertices, lambda count: problem.solver(threads=count), RUNS
    for vertices, runs in SIZES.items():
        if vertices <= MOST:
            given = creature(vertices, *FIFTY)
            make = lambda count, given=given: araplbs.Solver(*given, threads=count)  # noqa: E731
            yield "creature", len(given[0]), make, runs


def measure(name, vertices, make, runs):
    """A row for each number of threads; the runs with different numbers alternate."""
    rows = {}
    for _ in range(runs):
        for count in counts():
            run = stage_times.timed(lambda count=count: make(count))
            seconds, report = run["seconds"], run["report"]
            best = rows.get(count)
            if best is None or seconds["total"] < best["seconds"]["total"]:
                rows[count] = {
                    "name": name, "vertices": vertices, "threads": count, "seconds": seconds,
                    "shared": report["shared_seconds"], "saved": report["saved_seconds"],
                }  # fmt: skip
    for row in rows.values():
        row["speed"] = rows[1]["seconds"]["total"] / row["seconds"]["total"]
        say(f"{name}, {vertices:,} vertices, {row['threads']} threads: {row['speed']:.2f}")
    return list(rows.values())


def side_by_side(row):
    """The share of the work that runs in parallel, in percent, or "-"."""
    count = row["threads"]
    if count == 1:
        return "-"
    return f"{100 * max(0, (1 - 1 / row['speed']) / (1 - 1 / count)):.0f}"


def draw(found, output):
    """Draws bars for each number of threads, which show the part of the time that becomes shorter
    and the part that does not."""
    stages = stage_times.stages([row for rows in found for row in rows])
    fig, [panels] = plots.figure(len(found), width=max(8, 3 * len(found)), height=4.6)
    for axes, rows in zip(panels, found, strict=True):
        bottom = [0.0] * len(rows)
        for stage in stages:
            height = [row["seconds"][stage] for row in rows]
            look = {"color": stage_times.color(stage), "label": stage, "width": 0.7}
            axes.bar(range(len(rows)), height, bottom=bottom, **look)
            bottom = [a + b for a, b in zip(bottom, height, strict=True)]
        for place, row in enumerate(rows):
            axes.text(
                place, bottom[place], f"{row['speed']:.2f} x" if place else "1", ha="center",
                va="bottom",
            )  # fmt: skip
        axes.set_xticks(range(len(rows)), [str(row["threads"]) for row in rows])
        axes.grid(False, axis="x")
        axes.set_xlabel(f"threads; {rows[0]['name']}, {rows[0]['vertices']:,} vertices")
    panels[0].set_ylabel("seconds")
    plots.legend_above(fig, panels[0], 6)
    return plots.save(fig, output, "threads.png")


def thread_table(rows):
    stages = stage_times.stages(rows)
    head = (
        "input", "vertices", "threads", "seconds", "times as fast", "side by side %", *stages,
    )  # fmt: skip
    return table(head, [
        (
            row["name"], f"{row['vertices']:,}", row["threads"], f"{row['seconds']['total']:.3g}",
            f"{row['speed']:.2f}", side_by_side(row),
            *(f"{row['seconds'][stage]:.2g}" for stage in stages),
        )
        for row in rows
    ])  # fmt: skip


def simulated_table(found):
    """Estimates for more threads from runs on one, in addition to the measurements."""
    measured = [count for count in counts() if count > 1]
    head = (
        "input", "vertices", "can be shared %", *(f"simulated {n}" for n in CROWDS),
        *(f"measured {n}" for n in measured),
    )  # fmt: skip
    lines = []
    for rows in found:
        one, total = rows[0], rows[0]["seconds"]["total"]
        lines.append((
            one["name"], f"{one['vertices']:,}", f"{100 * one['shared'] / total:.0f}",
            *(f"{total / (total - saved):.2f}" for saved in one["saved"]),
            *(f"{row['speed']:.2f}" for row in rows if row["threads"] in measured),
        ))  # fmt: skip
    return table(head, lines)


def main(zip_path, output):
    output = Path(output)
    found = [measure(*case) for case in cases(Path(zip_path))]
    rows = [row for each in found for row in each]
    note = NOTE.format(stage_times.left_out(rows))
    write_page(
        output, "threads", "Threads", note, thread_table(rows), MORE, simulated_table(found),
        pictures=[draw(found, output)], rows=rows,
    )  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
