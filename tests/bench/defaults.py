"""What other settings than the defaults come to, one at a time.

defaults.py ZIP OUTPUT_FOLDER [CHARACTER...]     (bench.py calls it)"""

import sys
import time
from pathlib import Path

import numpy as np
import plots
from problems import problems
from results import say, table, write_page

SETTINGS = {
    "defaults": {},
    "attach and neumann": {"attach": True, "neumann": True},
    "attach, weaker": {"attach": True, "constraint_strength": 1.0},
    "positivity penalty": {"positivity": "penalty"},
    "positivity none": {"positivity": "none"},
    "filter extrema": {"filter": "extrema"},
    "filter all": {"filter": "all"},
    "truss 0": {"truss": 0.0},
    "truss 10": {"truss": 10.0},
    "truss 60": {"truss": 60.0},
    "edge_power 0": {"edge_power": 0.0},
    "least_worth 0.001": {"least_worth": 0.001},
    "least_worth 0.01": {"least_worth": 0.01},
    "hold 0.01": {"peak_stiffness": 0.01},
    "widenings 0": {"widenings": 0},
    "widenings 1": {"widenings": 1},
    "widenings 4": {"widenings": 4},
    "support of the paper": {"support": (1, 0.95, 0.05)},
    "pose_count 40": {"pose_count": 40},
    "pose_count 160": {"pose_count": 160},
    "acceleration 0": {"acceleration": 0},
    "coarsen 0": {"coarsen": 0},
    "rotation_clusters 0.05": {"rotation_clusters": 0.05},
    "rotation_clusters 0.1": {"rotation_clusters": 0.1},
    "harmonic 0.000001": {"harmonic": 1e-6},
    "harmonic 0.0001": {"harmonic": 1e-4},
    "tolerance 0.0005": {"tolerance": 5e-4},
    "damping 0.0001": {"damping": 1e-4},
    "link_parts off": {"link_parts": False},
    "mirror off": {"symmetry": None},
    "precision double": {"precision": "double"},
    "published": {
        "attach": True, "neumann": True, "positivity": "penalty", "widenings": 0,
        "support": (1, 0.95, 0.05), "acceleration": 0, "max_influences": 0, "truss": 0.0,
        "edge_power": 0.0, "least_worth": 3e-5,
    },
}  # fmt: skip
MOST = 15_000  # vertices: larger characters say the same and take long
SEEDS = (0, 1)
NOTE = f"""\
Each line changes the settings named and leaves the others at their defaults (limit of 4 influences
except where published). Geometric means over the characters of up to {MOST:,} vertices and
{len(SEEDS)} seeds, as differences from the defaults: energies on 100 random poses that no
optimization has seen, with the best and the worst character, and on the characters' own actions,
and time. *Lost*: deform bones, of all characters together, whose largest weight falls from more
than 0.3 at the start to less than that; energies fall when bones are lost, but such bones no longer
do anything. Attach, neumann and other choices of positivity also switch off the coarse levels, as
`coarsen 0` does.

`published`: the settings of the 2018 paper, without its filter."""


def lost_bones(initial, weights):
    return int(((initial.max(0) > 0.3) & (weights.max(0) < 0.3)).sum())


def solve(problem, seed, settings):
    start = time.perf_counter()
    solver = problem.solver(seed=seed, **settings)
    solver.solve()
    seconds = time.perf_counter() - start
    weights = solver.sparse_weights
    moving = problem.animation is not None
    return {
        "energy": problem.energy(weights, problem.unseen),
        "animation": problem.energy(weights, problem.animation) if moving else np.nan,
        "seconds": seconds,
        "weights": solver.weights,
    }


def measure(problem):
    """One row for each setting and seed."""
    initial = problem.solver(coarsen=0).initial_weights
    rows = []
    for seed in SEEDS:
        for name, settings in SETTINGS.items():
            row = solve(problem, seed, settings)
            row["lost"] = lost_bones(initial, row.pop("weights"))
            rows.append({"character": problem.name, "setting": name, "seed": seed, **row})
    say(problem.name)
    return rows


def times(rows, name, key):
    """Multiples of the default's numbers, one for each character and seed."""
    pick = lambda setting: np.array([r[key] for r in rows if r["setting"] == setting])  # noqa: E731
    ratio = pick(name) / pick("defaults")
    return ratio[np.isfinite(ratio) & (ratio > 0)]


def percent(ratio):
    return f"{100 * (ratio - 1):+.1f} %"


def cells(rows, name):
    geometric = lambda x: np.exp(np.log(x).mean()) if len(x) else np.nan  # noqa: E731
    energy = times(rows, name, "energy")
    return [
        name, percent(geometric(energy)), percent(energy.min()), percent(energy.max()),
        percent(geometric(times(rows, name, "animation"))),
        percent(geometric(times(rows, name, "seconds"))),
        f"{sum(r['lost'] for r in rows if r['setting'] == name) / len(SEEDS):.1f}",
    ]  # fmt: skip


def draw(rows, output):
    names = [name for name in SETTINGS if name != "defaults"]
    fig, [[axes]] = plots.figure(width=8, height=1.5 + 0.25 * len(names))
    for k, name in enumerate(names):
        energy = times(rows, name, "energy")
        axes.plot([energy.min(), energy.max()], [k, k], color=plots.GRAY, linewidth=2)
        mean = np.exp(np.log(energy).mean())
        axes.scatter(mean, k, s=40, color=plots.BLUE, zorder=3)
    axes.axvline(1, color=plots.BLACK, linewidth=1)
    axes.set_xscale("log")
    plots.plain_numbers(axes.xaxis)
    axes.set_xlabel("energy on unseen poses as a multiple of the default's: mean, best and worst")
    plots.name_rows(axes, names)
    return plots.save(fig, output, "defaults.png")


def main(zip_path, output, *names):
    output = Path(output)
    small = (p for p in problems(Path(zip_path), names) if p.vertices <= MOST)
    rows = [row for problem in small for row in measure(problem)]
    head = ["settings", "energy", "best", "worst", "animation", "time", "lost"]
    write_page(
        output, "defaults", "Other settings than the defaults", NOTE,
        table(head, [cells(rows, name) for name in SETTINGS]), pictures=[draw(rows, output)],
        rows=rows,
    )  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
