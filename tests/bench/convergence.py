"""How fast the iterations converge, plain and accelerated, on each character.

convergence.py ZIP OUTPUT_FOLDER [CHARACTER...]     (bench.py calls it)"""

import sys
from pathlib import Path

import numpy as np
import plots
from descent import ITERATIONS, SHARES, VARIANTS, compare
from problems import problems
from results import table, write_page

NOTE = f"""\
The last stage of each solve, run for {ITERATIONS} iterations (`tolerance=0`). Iterations and
milliseconds until the least energy so far, whose weights the solver keeps, is within 1 % and 0.1 %
of the *converged* one; `-`: not within {ITERATIONS} iterations. Milliseconds count from the start
of the stage and so contain its *set-up*: assembly and factorization. *Above*: how far the least
energy of the run is above that of all runs."""
OWN_NOTE = """\
With the stages of the default settings, whose early iterations have a say in the influence maps of
the last stage: *converged* is the least energy of the run itself. *Default*: iterations of the last
stage that the default settings do, and how far they end above the least energy of all runs."""
SAME_NOTE = """\
On the same influence maps (`widenings=0`: those of the heat weights, limited), from the same
start: *converged* is the least energy that any run finds."""


def default_end(problem):
    """(iterations of the last stage, energy) with default settings."""
    solver = problem.solver()
    solver.solve()
    starts, energies = solver.report["stage_starts"], solver.energies
    return len(energies) - 1 - starts[-1], float(energies[-1])


def measure(problem):
    fixed = {name: {"widenings": 0, **own} for name, own in VARIANTS.items()}
    row = {"name": problem.name, "same": compare(problem, fixed, True)}
    row["own"] = compare(problem, VARIANTS, False)
    count, energy = default_end(problem)
    least = min(run["least"] for run in row["own"].values())
    return {**row, "default": [count, energy / least - 1]}


def draw(rows, names, output):
    fig, [panels] = plots.figure(2, width=9, height=1.5 + 0.25 * len(rows), sharey=True)
    for which, (axes, share) in enumerate(zip(panels, SHARES, strict=True)):
        for name, color, marker in plots.looks(names):
            points = [
                (row["same"][name]["arrivals"][which][0], place)
                for place, row in enumerate(rows)
                if row["same"][name]["arrivals"][which]
            ]
            x, y = zip(*points, strict=True) if points else ((), ())
            axes.scatter(x, y, s=40, color=color, marker=marker, label=name, zorder=3)
        axes.set_xscale("log")
        axes.set_xlim(0.9, 1.1 * ITERATIONS)
        plots.plain_numbers(axes.xaxis)
        axes.set_xlabel(f"iterations to within {100 * share:g} %, same influence maps")
    plots.name_rows(panels[0], [row["name"] for row in rows])
    plots.legend_above(fig, panels[0], len(names))
    return plots.save(fig, output, "convergence.png")


def cells(run):
    """Iterations and milliseconds for each share, set-up, distance from the best run."""
    arrivals = [(f"{a[0]}", f"{1000 * a[1]:.1f}") if a else ("-", "-") for a in run["arrivals"]]
    times = [each for pair in arrivals for each in pair]
    return [*times, f"{1000 * run['setup']:.1f}", f"{100 * run['above']:.2f} %"]


def mean_line(rows, names, kind):
    """Geometric means of the iterations, over the characters on which all runs arrive."""
    parts = []
    for which, share in enumerate(SHARES):
        full = [row for row in rows if all(r["arrivals"][which] for r in row[kind].values())]
        counts = {name: [row[kind][name]["arrivals"][which][0] for row in full] for name in names}
        means = [f"{name} {np.exp(np.mean(np.log(counts[name]))):.1f}" for name in names if full]
        parts.append(f"to {100 * share:g} % ({len(full)} characters): {', '.join(means)}")
    return f"Iterations, geometric mean {'; '.join(parts)}."


def run_table(rows, names, kind):
    head = ["character"]
    for name in names:
        head += [f"{name}: its 1 %", "ms", "its 0.1 %", "ms", "set-up ms", "above"]
    lines = [[row["name"], *(c for name in names for c in cells(row[kind][name]))] for row in rows]
    if kind == "own":
        head += ["default: its", "above"]
        for line, row in zip(lines, rows, strict=True):
            line += [row["default"][0], f"{100 * row['default'][1]:.2f} %"]
    return table(head, lines)


def main(zip_path, output, *characters):
    output = Path(output)
    rows = [measure(problem) for problem in problems(Path(zip_path), characters)]
    write_page(
        output, "convergence", "Convergence", NOTE,
        OWN_NOTE, run_table(rows, VARIANTS, "own"), mean_line(rows, VARIANTS, "own"),
        SAME_NOTE, run_table(rows, VARIANTS, "same"), mean_line(rows, VARIANTS, "same"),
        pictures=[draw(rows, VARIANTS, output)], rows=rows,
    )  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
