"""How fast the iterations converge, plain and accelerated, on each character.

convergence.py ZIP OUTPUT_FOLDER [CHARACTER...]     (bench.py calls it)"""

import sys
import time
from pathlib import Path

import araplbs
import numpy as np
import plots
from problems import problems
from results import say, table, write_page

ITERATIONS = 200
SHARES = (0.01, 0.001)
REPEATS = 3  # of the iterations whose time is told
NOTE = f"""\
The last stage of each solve, run for {ITERATIONS} iterations (`tolerance=0`); *converged* is the
least energy that any of the compared runs finds. Iterations and milliseconds until the energy is
within 1 % and 0.1 % of it and stays there; `-`: not within {ITERATIONS} iterations. Milliseconds
count from the start of the stage and so contain its *set-up*: new influence maps, assembly,
factorisation. *End*: how far the last energy is above the converged one. *Default*: iterations of
the last stage that the default settings do, and how far above the converged energy they end."""


def knows(keyword):
    """Does this build of the solver have that keyword?"""
    corners, triangles = np.eye(3), [[0, 1, 2]]
    try:
        araplbs.Solver(corners, triangles, [[0, 0, 0]], [[1, 1, 1]], [-1], **{keyword: 0})
    except TypeError:
        return False
    return True


def runs():
    """{name: options} of what is compared."""
    if knows("acceleration"):
        return {"plain": {"acceleration": 0}, "accelerated": {}}
    return {"plain": {}}


class Run:
    """A solve whose calls are timed one by one."""

    def __init__(self, problem, options, iterations):
        self.solver = problem.solver(tolerance=0, iterations=iterations, **options)
        self.seconds = []  # of each iteration
        self.lengths = []  # of the history of energies after it

    def step(self):
        start = time.perf_counter()
        self.solver.iterate(1)
        self.seconds.append(time.perf_counter() - start)
        self.lengths.append(len(self.solver.energies))

    def last_stage(self):
        """(energies after each iteration of the last stage, seconds of each)."""
        first = self.solver.report["stage_starts"][-1] + 1
        inside = [i for i, length in enumerate(self.lengths) if length > first]
        energies = self.solver.energies
        return (
            np.array([energies[min(self.lengths[i], len(energies)) - 1] for i in inside]),
            np.array([self.seconds[i] for i in inside]),
        )


def side_by_side(problem, variants, iterations=ITERATIONS):
    """{name: (energies, seconds)} of the last stages; the iterations of the runs alternate."""
    running = {name: Run(problem, options, iterations) for name, options in variants.items()}
    while any(not run.solver.done for run in running.values()):
        for run in running.values():
            if not run.solver.done:
                run.step()
    return {name: run.last_stage() for name, run in running.items()}


def default_end(problem):
    """(iterations of the last stage, energy) with default settings."""
    solver = problem.solver()
    solver.solve()
    starts, energies = solver.report["stage_starts"], solver.energies
    return len(energies) - 1 - starts[-1], float(energies[-1])


def arrival(energies, least, share):
    """Iterations until all further energies are within the share, None where they never are."""
    outside = np.flatnonzero(energies > (1 + share) * least)
    count = int(outside[-1]) + 2 if len(outside) else 1
    return count if count <= len(energies) else None


def measure(problem, variants):
    full = side_by_side(problem, variants)
    least = min(float(energies.min()) for energies, _ in full.values())
    arrivals = {
        name: [arrival(energies, least, share) for share in SHARES]
        for name, (energies, _) in full.items()
    }
    most = max(count or 2 for counts in arrivals.values() for count in counts)
    again = [full, *(side_by_side(problem, variants, most) for _ in range(REPEATS - 1))]
    count, energy = default_end(problem)
    row = {"name": problem.name, "least": least, "default": [count, energy / least - 1], "runs": {}}
    for name, (energies, _) in full.items():
        seconds = np.min([times[name][1][:most] for times in again], axis=0)
        row["runs"][name] = {
            "setup": float(seconds[0] - np.median(seconds[1:])),
            "arrivals": [[n, float(seconds[:n].sum())] if n else None for n in arrivals[name]],
            "end": float(energies[-1] / least - 1),
            "energies": energies.tolist(),
        }
    say(problem.name, arrivals)
    return row


def draw(rows, variants, output):
    fig, [panels] = plots.figure(2, width=9, height=1.5 + 0.25 * len(rows), sharey=True)
    for which, (axes, share) in enumerate(zip(panels, SHARES, strict=True)):
        for name, colour, marker in zip(variants, plots.COLOURS, plots.MARKERS, strict=False):
            points = [
                (row["runs"][name]["arrivals"][which][0], place)
                for place, row in enumerate(rows)
                if row["runs"][name]["arrivals"][which]
            ]
            x, y = zip(*points, strict=True) if points else ((), ())
            axes.scatter(x, y, s=40, color=colour, marker=marker, label=name, zorder=3)
        axes.set_xscale("log")
        axes.set_xlim(0.9, 1.1 * ITERATIONS)
        plots.plain_numbers(axes.xaxis)
        axes.set_xlabel(f"iterations to within {100 * share:g} %")
    plots.name_rows(panels[0], [row["name"] for row in rows])
    plots.legend_above(fig, panels[0], len(variants))
    return plots.save(fig, output, "convergence.png")


def cells(run):
    """Iterations and milliseconds for each share, set-up, end."""
    arrivals = [(f"{a[0]}", f"{1000 * a[1]:.1f}") if a else ("-", "-") for a in run["arrivals"]]
    times = [each for pair in arrivals for each in pair]
    return [*times, f"{1000 * run['setup']:.1f}", f"{100 * run['end']:.2f} %"]


def mean_line(rows, variants):
    """Geometric means of the iterations, over the characters on which all runs arrive."""
    parts = []
    for which, share in enumerate(SHARES):
        full = [r for r in rows if all(run["arrivals"][which] for run in r["runs"].values())]
        means = [
            np.exp(np.mean([np.log(r["runs"][name]["arrivals"][which][0]) for r in full]))
            for name in variants
        ]
        words = ", ".join(f"{name} {mean:.1f}" for name, mean in zip(variants, means, strict=True))
        parts.append(f"to {100 * share:g} % ({len(full)} of {len(rows)} characters): {words}")
    return f"Iterations, geometric mean {'; '.join(parts)}."


def main(zip_path, output, *names):
    output, variants = Path(output), runs()
    rows = [measure(problem, variants) for problem in problems(Path(zip_path), names)]
    head = ["character"]
    for name in variants:
        head += [f"{name}: its 1 %", "ms", "its 0.1 %", "ms", "set-up ms", "end"]
    head += ["default: its", "end"]
    lines = [
        [
            row["name"],
            *(cell for run in row["runs"].values() for cell in cells(run)),
            row["default"][0],
            f"{100 * row['default'][1]:.2f} %",
        ]
        for row in rows
    ]
    write_page(
        output, "convergence", "Convergence", NOTE, table(head, lines), mean_line(rows, variants),
        pictures=[draw(rows, variants, output)], rows=rows,
    )  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
