"""Solves that are timed iteration by iteration, and when they are near their converged energy."""

import time
from dataclasses import dataclass

import numpy as np
from results import say

ITERATIONS = 100
SHARES = (0.01, 0.001)  # of the energy: near enough to the converged one
REPEATS = 3  # of the iterations that are timed
VARIANTS = {"plain": {"acceleration": 0}, "accelerated": {}}  # options of what is compared


@dataclass
class Stage:
    """The last stage of a solve."""

    energies: np.ndarray  # after each iteration
    seconds: np.ndarray  # of each iteration, the first with the set-up
    setup: float


class Run:
    """A solve whose calls are timed one by one."""

    def __init__(self, problem, options):
        self.solver = problem.solver(tolerance=0, **options)
        self.calls = []  # (seconds, of these set-up, length of the history of energies)

    def step(self):
        before, start = self.solver.report["seconds"], time.perf_counter()
        self.solver.iterate(1)
        seconds, after = time.perf_counter() - start, self.solver.report["seconds"]
        setup = sum(after[stage] - before[stage] for stage in ("assembly", "factor"))
        self.calls.append((seconds, setup, len(self.solver.energies)))

    def last_stage(self):
        first = self.solver.report["stage_starts"][-1] + 1
        energies = self.solver.energies
        calls = [call for call in self.calls if call[2] > first]
        seconds, setups, lengths = (np.array(column) for column in zip(*calls, strict=True))
        return Stage(energies[np.minimum(lengths, len(energies)) - 1], seconds, setups[0])


def side_by_side(problem, options, iterations):
    """{name: Stage}; the iterations of the runs alternate."""
    running = {
        name: Run(problem, {"iterations": iterations, **own}) for name, own in options.items()
    }
    while any(not run.solver.done for run in running.values()):
        for run in running.values():
            if not run.solver.done:
                run.step()
    return {name: run.last_stage() for name, run in running.items()}


def arrival(energies, converged, share):
    """Iterations until the least energy so far is within the share, None where it never is."""
    inside = np.flatnonzero(energies <= (1 + share) * converged)
    return int(inside[0]) + 1 if len(inside) else None


def compare(problem, options, same):
    """{name: what the page says of the run}. same: all runs solve the same problem."""
    full = side_by_side(problem, options, ITERATIONS)
    least = min(float(stage.energies.min()) for stage in full.values())
    converged = {n: least if same else float(s.energies.min()) for n, s in full.items()}
    arrivals = {
        name: [arrival(stage.energies, converged[name], share) for share in SHARES]
        for name, stage in full.items()
    }
    most = max(count or 1 for counts in arrivals.values() for count in counts)
    again = [full, *(side_by_side(problem, options, most) for _ in range(REPEATS - 1))]
    result = {}
    for name, stage in full.items():
        seconds = np.min([times[name].seconds[:most] for times in again], axis=0)
        result[name] = {
            "setup": min(times[name].setup for times in again),
            "arrivals": [[n, float(seconds[:n].sum())] if n else None for n in arrivals[name]],
            "least": float(stage.energies.min()),
            "above": float(stage.energies.min()) / least - 1,
            "energies": stage.energies.tolist(),
        }
    say(problem.name, "same maps" if same else "all stages", arrivals)
    return result
