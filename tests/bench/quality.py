"""What a limit on influences costs: energies for 4, 8 and any number of influences, beside the
best weights that we know for the same bones.

quality.py ZIP OUTPUT_FOLDER [CHARACTER...]     (bench.py calls it)"""

import sys
from pathlib import Path

import numpy as np
import plots
from problems import problems
from results import say, table, write_page

LIMITS = {"4": 4, "8": 8, "any": 0}  # max_influences
# Supports that are not pruned: every heat weight above heat_floor is an unknown.
DENSE = {
    "max_influences": 0, "support": (1, 1.0, 0.0), "iterations": 30, "tolerance": 1e-4,
}  # fmt: skip
MOST_DENSE = 5_000  # vertices: beyond, the unpruned system takes minutes and many GiB
MOST_WIDENED = 30_000  # vertices: beyond, there is no reference at all
NOTE = f"""\
Energies on 100 random poses that no optimization has seen, as multiples of the *reference*, and
influences per vertex. The reference is what weights without limits come to with the bones as they
are and all of them kept alive (`peak_stiffness` at its default): the lower of two solves
without pruning
(`support=(1, 1.0, 0.0)`, 30 iterations in the last stage, tolerance 1e-4), one on all heat
weights above `heat_floor` as they are (`widenings=0`, characters of up to {MOST_DENSE:,}
vertices), one with `widenings=6` (up to {MOST_WIDENED:,}); which is lower is decided on the poses
of the solver. *Heat* are the initial weights. A value below 1 beats the reference: it is no bound
on poses not seen, nor is the energy convex. *Stretch*: root of the reference's energy.
*Animation*: the same multiples on the character's own actions."""


def outcome(problem, weights, influences):
    result = {"energy": problem.energy(weights, problem.unseen), "influences": influences}
    if problem.animation is not None:
        result["animation"] = problem.energy(weights, problem.animation)
    return result


def solve(problem, **options):
    """(solver when done, what its weights come to)."""
    solver = problem.solver(**options)
    solver.solve()
    influences = solver.report["mean_influences"]
    return solver, outcome(problem, solver.sparse_weights, influences)


def reference(problem):
    widenings = [0] if problem.vertices <= MOST_DENSE else []
    widenings += [6] if problem.vertices <= MOST_WIDENED else []
    found = [solve(problem, widenings=count, **DENSE) for count in widenings]
    return min(found, key=lambda each: each[0].energy)[1] if found else None


def measure(problem):
    row = {"name": problem.name, "reference": reference(problem)}
    for name, limit in LIMITS.items():
        solver, row[name] = solve(problem, max_influences=limit)
    initial = solver.initial_weights
    row["heat"] = outcome(problem, initial, float((initial > 0).sum(1).mean()))
    say(row["name"], *(f"{key}: {row[key]['energy']:.5f}" for key in (*LIMITS, "heat")))
    return row


def multiple(row, which, key="energy"):
    """Of the reference's energy; NaN where it is missing."""
    base, own = row["reference"] or {}, row[which]
    return own[key] / base[key] if key in base and key in own else np.nan


def draw(rows, output):
    fig, [[axes]] = plots.figure(width=8, height=1.5 + 0.25 * len(rows))
    for which, color, marker in plots.looks((*LIMITS, "heat")):
        label = "heat" if which == "heat" else f"{which} influences"
        x = [multiple(row, which) for row in rows]
        axes.scatter(x, range(len(rows)), s=40, color=color, marker=marker, label=label, zorder=3)
    axes.axvline(1, color=plots.BLACK, linewidth=1)
    axes.set_xscale("log")
    plots.plain_numbers(axes.xaxis)
    plots.plain_minor(axes.xaxis)
    axes.set_xlabel("energy on unseen poses, as a multiple of the reference")
    plots.name_rows(axes, [row["name"] for row in rows])
    plots.legend_above(fig, axes, 4)
    return plots.save(fig, output, "quality.png")


def shown(number, form=".3f"):
    return "-" if np.isnan(number) else f"{number:{form}}"


def cells(row):
    ours = [(multiple(row, k), row[k]["influences"]) for k in (*LIMITS, "heat")]
    base = row["reference"] or {"energy": np.nan, "influences": np.nan}
    return [
        row["name"],
        shown(100 * np.sqrt(base["energy"]), ".2f"),
        shown(base["influences"], ".1f"),
        *(cell for times, count in ours for cell in (shown(times), f"{count:.1f}")),
        *(shown(multiple(row, which, "animation")) for which in (*LIMITS, "heat")),
    ]


def means(rows):
    """Geometric means of the multiples, means of the influences."""
    known = [row for row in rows if row["reference"]]
    geometric = lambda x: np.exp(np.nanmean(np.log(x))) if np.isfinite(x).any() else np.nan  # noqa: E731
    line = ["mean", "", shown(np.mean([row["reference"]["influences"] for row in known]), ".1f")]
    for which in (*LIMITS, "heat"):
        line += [
            shown(geometric([multiple(row, which) for row in known])),
            f"{np.mean([row[which]['influences'] for row in rows]):.1f}",
        ]
    animated = [[multiple(row, k, "animation") for row in known] for k in (*LIMITS, "heat")]
    return [*line, *(shown(geometric(column)) for column in animated)]


def main(zip_path, output, *names):
    output = Path(output)
    rows = [measure(problem) for problem in problems(Path(zip_path), names)]
    head = ["character", "reference: stretch %", "influences"]
    for which in (*LIMITS, "heat"):
        head += [which if which == "heat" else f"limit {which}", "influences"]
    head += [f"animation: {which}" for which in (*LIMITS, "heat")]
    write_page(
        output, "quality", "Quality by number of influences", NOTE,
        table(head, [*map(cells, rows), means(rows)]), pictures=[draw(rows, output)], rows=rows,
    )  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
