"""What sharing rotations in clusters of vertices saves, and what it costs.

clusters.py ZIP OUTPUT_FOLDER [CHARACTER...]     (bench.py calls it)"""

import sys
import time
from pathlib import Path

import numpy as np
import plots
from defaults import SEEDS, lost_bones, percent
from problems import problems
from results import say, table, write_page

DIFFERENCES = (0.02, 0.05, 0.1, 0.2, 0.4)
SHOWN = 0.1  # for each character
REPEATS = 3
NOTE = f"""\
`rotation_clusters`: up to 16 neighbors whose weights differ by at most so much share one rotation
per pose. Differences from the default settings, where every vertex has its own: time of the local
steps and of the whole solve, the fastest of {REPEATS}; energies on 100 random poses that no
optimization has seen and on the characters' own actions, each vertex with its own rotation again.
Means of {len(SEEDS)} seeds. *Lost*: as on [the page of the defaults](defaults.md)."""
SHOWN_NOTE = f"With `rotation_clusters={SHOWN}`, for each character:"
MEAN_NOTE = "Geometric means over the characters; of bones lost, the sum:"


def solve(problem, seed, initial, difference):
    """(local, total, energy, animation, lost); the times of the fastest run."""
    local = total = np.inf
    for _ in range(REPEATS):
        start = time.perf_counter()
        solver = problem.solver(seed=seed, rotation_clusters=difference)
        solver.solve()
        total = min(total, time.perf_counter() - start)
        local = min(local, solver.report["seconds"]["local"])
    weights, moving = solver.sparse_weights, problem.animation is not None
    return (
        local, total, problem.energy(weights, problem.unseen),
        problem.energy(weights, problem.animation) if moving else np.nan,
        lost_bones(initial, solver.weights),
    )  # fmt: skip


def measure(problem):
    initial = problem.solver(coarsen=0).initial_weights
    means = {
        difference: np.mean([solve(problem, s, initial, difference) for s in SEEDS], 0).tolist()
        for difference in (0.0, *DIFFERENCES)
    }
    say(problem.name)
    return {"name": problem.name, "vertices": problem.vertices, "means": means}


def ratios(row, difference):
    """Local, total, energy, animation as multiples of those without clusters."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.array(row["means"][difference][:4]) / row["means"][0.0][:4]
    return np.where(np.isfinite(ratio) & (ratio > 0), ratio, np.nan)


def more_lost(row, difference):
    return row["means"][difference][4] - row["means"][0.0][4]


def character_line(row):
    local, total = row["means"][0.0][:2]
    return [
        row["name"], f"{row['vertices']:,}", f"{1000 * local:.0f}", f"{1000 * total:.0f}",
        *("-" if np.isnan(r) else percent(r) for r in ratios(row, SHOWN)),
        f"{more_lost(row, SHOWN):+.1f}",
    ]  # fmt: skip


def mean_line(rows, difference):
    means = np.exp(np.nanmean(np.log([ratios(row, difference) for row in rows]), 0))
    lost = sum(more_lost(row, difference) for row in rows)
    return [difference, *(percent(mean) for mean in means), f"{lost:+.1f}"]


def draw(rows, output):
    fig, [panels] = plots.figure(2, width=9, height=1.4 + 0.25 * len(rows), sharey=True)
    shown = np.array([ratios(row, SHOWN) for row in rows])
    for axes, columns, what in zip(
        panels,
        ({0: "local steps", 1: "whole solve"}, {2: "unseen poses", 3: "actions"}),
        ("time", "energy"),
        strict=True,
    ):
        looks = plots.looks(columns.values())
        for column, (name, color, marker) in zip(columns, looks, strict=True):
            axes.scatter(
                shown[:, column], range(len(rows)), s=40, color=color, marker=marker, label=name,
                zorder=3,
            )  # fmt: skip
        axes.axvline(1, color=plots.BLACK, linewidth=1)
        axes.set_xlabel(f"{what} as a multiple of that without clusters")
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2)
    plots.name_rows(panels[0], [row["name"] for row in rows])
    return plots.save(fig, output, "clusters.png")


def main(zip_path, output, *names):
    output = Path(output)
    rows = [measure(problem) for problem in problems(Path(zip_path), names)]
    head = ["local", "time", "energy", "animation", "lost"]
    write_page(
        output, "clusters", "Clusters that share rotations", NOTE, MEAN_NOTE,
        table(["rotation_clusters", *head], [mean_line(rows, d) for d in DIFFERENCES]), SHOWN_NOTE,
        table(
            ["character", "vertices", "local ms", "ms", *head],
            [character_line(row) for row in rows],
        ),
        pictures=[draw(rows, output)], rows=rows,
    )  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
