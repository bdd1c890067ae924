"""Measures the seconds of each stage of a solve for stages.py, threads.py and scaling.py; rows have
{"seconds": {stage: s, ..., "total": s}}."""

import time

import plots

COLORS = {
    "mesh": plots.GRAY, "truss": "#b8a000", "visibility": plots.ORANGE, "heat": plots.RED,
    "poses": plots.BLACK, "levels": "#f2b6d8", "maps": "#17becf", "assembly": plots.PURPLE,
    "factor": plots.GREEN, "local": plots.BLUE, "solve": plots.SKY, "result": "#8c564b",
}  # fmt: skip
UNKNOWN, REST = "#5a3fa0", "#dddddd"
LEAST = 0.01  # share of the time below which a stage is not shown
ABOUT = """

- *mesh*: checks, welding, links between parts, elimination order, symmetry.
- *truss*: creating the bone springs between the skin and the bones, and finding rigid parts.
- *visibility*: finding the nearest bones, and the bones visible from each vertex.
- *heat*: initial weights and their influence maps.
- *poses*: pose sampling.
- *levels*: creating coarser meshes, and transferring their weights to finer meshes.
- *maps*: choice of the bones that may influence a vertex.
- *assembly* and *factor*: building and factorizing the system.
- *local*: best rotations, right-hand sides, energies.
- *solve*: back-substitutions, clipping, acceleration.
- *result*: removal of small weights, and the energy.

Work on coarser meshes counts toward the same stages."""


def timed(make):
    """The "seconds" and the "report" of one solve, including the time to return the weights."""
    start = time.perf_counter()
    solver = make()
    solver.solve()
    report = solver.report
    total = time.perf_counter() - start
    return {"seconds": {**report["seconds"], "total": total}, "report": report}


def fastest(make, repeats):
    """The fastest of several solves."""
    return min((timed(make) for _ in range(repeats)), key=lambda run: run["seconds"]["total"])


def stages(rows):
    """Names of the stages that take a relevant time in some row, in order."""
    return [
        stage
        for stage in rows[0]["seconds"]
        if stage != "total"
        and any(row["seconds"][stage] >= LEAST * row["seconds"]["total"] for row in rows)
    ]


def left_out(rows):
    """One sentence about the stages that the tables and plots do not show."""
    shown = stages(rows)
    small = [stage for stage in rows[0]["seconds"] if stage not in (*shown, "total")]
    rest = max(
        1 - sum(row["seconds"][stage] for stage in row["seconds"] if stage != "total")
        / row["seconds"]["total"] for row in rows
    )  # fmt: skip
    text = (
        "The time outside the stages, including the Python boundary, is at most "
        f"{100 * max(rest, 0):.1f} %."
    )
    if small:
        names = ", ".join(f"*{stage}*" for stage in small)
        text += f" Stages that always take less than {100 * LEAST:g} % are omitted: {names}."
    return text


def color(stage):
    return COLORS.get(stage, UNKNOWN)
