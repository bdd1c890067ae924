"""Measures the cost of a live session for the window: writes docs/live/stalls.md and .png from the
files that the GUI tests leave in build/test (tests/run.sh trixie-gui sid-gui)."""

import json
from pathlib import Path

import machine
import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/live/stalls.md"
A_SECOND = 60  # turns while it writes (BUSY_TICK in window/live_operator.py)

INTRO = """# Cost of a live session for the interface

The test weights a tube of {vertices:,} vertices with three bones in a live session that starts
without weights, and then accepts the result. The session runs in a window under Xvfb, drawn by
the processor (llvmpipe, no graphics card), on {machine}. *Own work* is the work of a session on
the main thread between two turns of the event loop: reading, applying edits, and writing vertex
groups, in seconds of processor time. The session may use 13 ms per turn. The session does not
start a step if another step of the previous duration would exceed this limit. *Event loop* is
the time from one turn to the next, in which Blender also evaluates and draws the mesh. *Idle*
is the time between two turns without a session, while the mesh is tagged and drawn repeatedly.
Cells list the median / 99th percentile / maximum in milliseconds. *Follows*: turns from the end
of the iterations until the vertex groups show the result, the time of these turns at 60 per
second, and the own work during these turns. Other programs ran on all processors at the same
time. These programs increase *event loop* and *idle*, and leave a turn less of its 13 ms.

| | own work | event loop | idle | frames shown | solved in | follows |
|---|---|---|---|--:|--:|---|
"""
END = """
![Trace](stalls.png)

The dotted line is at 16 ms, the duration of one frame on a screen. With a graphics card,
drawing takes almost no time. In this test, drawing accounts for nearly all of *event loop*.

Written by `bench/stalls.py` after `tests/run.sh trixie-gui sid-gui`.
"""


def numbers(seconds):
    return " / ".join(f"{1000 * np.quantile(seconds, q):.0f}" for q in (0.5, 0.99, 1))


def follows(ticks):
    """The turns from the end of the iterations until the result is shown, including those at both
    ends."""
    running = [tick for tick in ticks if tick[2] == "RUNNING"]
    converged = next(k for k, tick in enumerate(running) if tick[4])
    last = running[-1][3]
    shown = next(k for k, tick in enumerate(running) if tick[3] == last)
    turns, own = shown - converged, sum(tick[1] for tick in running[converged : shown + 1])
    return f"{turns} turns, {turns / A_SECOND:.2f} s; {1000 * own:.0f} ms"


def main():
    files = sorted(ROOT.glob("build/test/*-gui/stalls.json"))
    traces = [json.loads(file.read_text()) for file in files]
    if not traces:
        raise SystemExit("no build/test/*-gui/stalls.json: run tests/run.sh trixie-gui sid-gui")
    text = INTRO.format(vertices=traces[0]["vertices"], machine=machine.description())
    figure, axes = plt.subplots(len(traces), 1, figsize=(8, 2.6 * len(traces)), squeeze=False)
    for trace, ax in zip(traces, axes[:, 0], strict=True):
        own = np.array([tick[1] for tick in trace["ticks"]])
        beats = np.array(trace["beats"])
        shown = [tick[3] for tick in trace["ticks"]]
        frames = len({*shown} - {-1})
        text += (
            f"| Blender {trace['blender']} | {numbers(own)} | {numbers(np.diff(beats))} | "
            f"{numbers(np.diff(trace['idle']))} | {frames} | {trace['solved']:.1f} s | "
            f"{follows(trace['ticks'])} |\n"
        )
        ax.bar(np.arange(len(own)), 1000 * own, 1, color="tab:orange")
        ax.axhline(16, color="k", lw=0.8, ls=":")
        ax.set_xlim(0, len(own))
        ax.set_ylabel("own work, ms")
        ax.set_title(f"Blender {trace['blender']}", fontsize=10)
    axes[-1, 0].set_xlabel("turns since the start of the session")
    figure.tight_layout()
    figure.savefig(PAGE.with_suffix(".png"), dpi=90)
    PAGE.write_text(text + END)
    print(text)


if __name__ == "__main__":
    main()
