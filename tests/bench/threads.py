"""Time over 1 to all processors, on a synthetic creature of two sizes.

threads.py ZIP OUTPUT_FOLDER     (bench.py calls it)"""

import sys
from pathlib import Path

import machine
import plots
from results import say, table, write_page
from scaling import FIFTY, measure, repeats, stages

SIZES = (30_000, 100_000)
NOTE = """\
The synthetic creature of [scaling](scaling.md) with default settings; the counts alternate, and the
fastest time of each stage counts."""


def counts():
    """1, 2, 4 and so on, and all processors."""
    most = machine.processors()
    return sorted({most, *(2**k for k in range(most.bit_length()) if 2**k <= most)})


def measure_all():
    """{vertices: rows}; the runs with different counts alternate and the fastest times count."""
    found = {}
    for vertices in SIZES:
        for _ in range(repeats(vertices) + 1):
            for threads in counts():
                row = measure(vertices, FIFTY, threads, 1)
                if isinstance(row, str):
                    say(f"{vertices:,} vertices: {row}")
                    continue
                best = found.setdefault(vertices, {}).setdefault(threads, row)["seconds"]
                for stage, seconds in row["seconds"].items():
                    best[stage] = min(best[stage], seconds)
    return {vertices: list(rows.values()) for vertices, rows in found.items()}


def draw(found, output):
    fig, [panels] = plots.figure(len(found), width=max(8, 5 * len(found)), height=4.2, sharey=True)
    for axes, rows in zip(panels, found.values(), strict=True):
        threads = [row["threads"] for row in rows]
        axes.plot(threads, threads, color=plots.GRAY, linestyle=":", label="ideal")
        for stage, color, marker in plots.looks(stages(rows)):
            speed = [rows[0]["seconds"][stage] / row["seconds"][stage] for row in rows]
            axes.plot(threads, speed, color=color, marker=marker, linewidth=1, label=stage)
        speed = [rows[0]["seconds"]["total"] / row["seconds"]["total"] for row in rows]
        axes.plot(threads, speed, color=plots.BLACK, linewidth=2.5, label="all")
        axes.set_xticks(threads)
        axes.set_xlabel(f"threads; {rows[0]['vertices']:,} vertices")
    panels[0].set_ylabel("times as fast as one thread")
    plots.legend_above(fig, panels[0], 5)
    return plots.save(fig, output, "threads.png")


def thread_table(found):
    head = ("vertices", "threads", "seconds", *stages(next(iter(found.values()))), "times as fast")
    return table(head, [
        (
            f"{row['vertices']:,}", row["threads"], f"{row['seconds']['total']:.3f}",
            *(f"{row['seconds'][stage]:.3f}" for stage in stages(rows)),
            f"{rows[0]['seconds']['total'] / row['seconds']['total']:.2f}",
        )
        for rows in found.values()
        for row in rows
    ])  # fmt: skip


def main(_zip_path, output):
    output = Path(output)
    found = measure_all()
    write_page(
        output, "threads", "Threads", NOTE, thread_table(found), pictures=[draw(found, output)],
        rows=found,
    )  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
