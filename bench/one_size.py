"""Weights a synthetic creature, in a process of its own to measure its peak memory, and prints time
and memory as JSON:

one_size.py VERTICES SPINE ARM THREADS REPEATS     (called by scaling.py)"""

import json
import os
import resource
import sys
from pathlib import Path

import araplbs
import stage_times
from synthetic import creature


def resident():
    """The current memory of the process in bytes."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def peak():
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main(vertices, spine, arm, threads, repeats):
    arguments = creature(vertices, spine, arm)
    before = resident()
    make = lambda: araplbs.Solver(*arguments, threads=threads)  # noqa: E731
    runs = [stage_times.timed(make)]
    most = peak()
    runs += [stage_times.timed(make) for _ in range(1, repeats)]
    kept = ("iterations", "unknowns", "factor_bytes", "energy_before", "energy_after")
    result = {
        "vertices": len(arguments[0]), "bones": len(arguments[2]), "threads": threads,
        "peak": most, "own": most - before,
        "seconds": min((run["seconds"] for run in runs), key=lambda seconds: seconds["total"]),
        **{key: runs[0]["report"][key] for key in kept},
    }  # fmt: skip
    print(json.dumps(result))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
