"""Weights one input, in a process of its own to measure its peak memory, and prints time and memory
as JSON:

worst_one.py input KIND SIZE BONES           of worst_inputs.py
worst_one.py character NAME PRESET LOCKED RIGID KEPT.npz
    one of the problems (problems.py) with a preset of the extension (as its menu has it), with
    these shares of its vertices locked and in rigid parts; KEPT.npz contains the weights for this,
    or receives them.

worst.py calls it."""

import json
import os
import resource
import sys
from pathlib import Path

import araplbs
import numpy as np
import problems
import worst_inputs
from core_modules import add_on

KEPT = ("vertices", "bones", "parts", "rigid_parts", "coarse_vertices", "poses", "iterations",
        "unknowns", "factor_bytes", "most_influences", "energy_after")  # fmt: skip


def resident():
    """The current memory of the process in bytes."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def generated(kind, size, bones):
    """Arguments of a Solver."""
    given = getattr(worst_inputs, kind)(int(size), int(bones))
    heads, tails, parents = given.pop("bones")
    return {**given, "bone_heads": heads, "bone_tails": tails, "bone_parents": parents}


def settings(preset):
    """Arguments of a Solver, and whether weights are made symmetric, according to a preset."""
    values = add_on("disk.presets").PRESETS[preset]
    options = add_on("model.options").Options(**values)
    return options.solver_arguments(), options.symmetric


def character(name, preset, locked, rigid, kept):
    given = problems.load(name).arguments
    more, symmetric = settings(preset)
    if not symmetric:
        given.pop("symmetry", None)
    if locked := float(locked):
        given["locked_vertices"] = worst_inputs.locked(given["vertices"], locked)
        given["weights"] = rows_of(kept)
    if rigid := float(rigid):
        count = len(given["vertices"])
        given["rigid_parts"] = worst_inputs.hanging(rows_of(kept), count, rigid)
    return {**more, **given}


def rows_of(file):
    with np.load(file) as arrays:
        return tuple(arrays[key] for key in ("start", "bones", "weights"))


def main(kind, *about):
    given = {"input": generated, "character": character}[kind](*about)
    held, before = resident(), resource.getrusage(resource.RUSAGE_SELF)
    solver = araplbs.Solver(**given, threads=1)
    solver.solve()
    after, report = resource.getrusage(resource.RUSAGE_SELF), solver.report
    result = {key: report[key] for key in KEPT}
    result["seconds"] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    result["mib"] = (1024 * after.ru_maxrss - held) / 2**20
    if kind == "character" and not Path(about[-1]).exists():
        start, bones, weights = solver.sparse_weights
        np.savez(about[-1], start=start, bones=bones, weights=weights)
    print(json.dumps(result))


if __name__ == "__main__":
    main(*sys.argv[1:])
