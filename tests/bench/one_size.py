"""Weights a synthetic creature, in a process of its own so that peak memory is its own, and prints
as JSON what it took:

one_size.py VERTICES SPINE ARM THREADS REPEATS     (scaling.py calls it)"""

import json
import os
import resource
import sys
import time
from pathlib import Path

import araplbs
from synthetic import creature


def resident():
    """Bytes of memory that the process has now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def peak():
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main(vertices, spine, arm, threads, repeats):
    arguments = creature(vertices, spine, arm)
    before = resident()
    for attempt in range(repeats):
        start = time.perf_counter()
        solver = araplbs.Solver(*arguments, threads=threads)
        solver.solve()
        report = solver.report
        total = time.perf_counter() - start
        if attempt == 0:
            result = {
                "vertices": len(arguments[0]), "bones": len(arguments[2]), "threads": threads,
                "peak": peak(), "own": peak() - before, "seconds": {},
            }  # fmt: skip
            kept = ("iterations", "unknowns", "factor_size", "energy_before", "energy_after")
            result.update({key: report[key] for key in kept})
        times = {**report["seconds"], "total": total}
        for stage, seconds in times.items():
            result["seconds"][stage] = min(seconds, result["seconds"].get(stage, seconds))
        del solver
    print(json.dumps(result))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
