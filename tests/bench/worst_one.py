"""Weights one of worst_inputs.py, in a process of its own so that peak memory is its own, and
prints as JSON what it took:

worst_one.py KIND SIZE BONES     (worst.py calls it)"""

import json
import resource
import sys

import araplbs
import worst_inputs


def main(kind, size, bones):
    given = getattr(worst_inputs, kind)(size, bones)
    heads, tails, parents = given.pop("bones")
    before = resource.getrusage(resource.RUSAGE_SELF)
    solver = araplbs.Solver(
        **given, bone_heads=heads, bone_tails=tails, bone_parents=parents, threads=1
    )
    solver.solve()
    after, report = resource.getrusage(resource.RUSAGE_SELF), solver.report
    kept = ("vertices", "bones", "parts", "coarse_vertices", "iterations", "energy_after")
    result = {key: report[key] for key in kept}
    result["seconds"] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    result["mib"] = after.ru_maxrss / 1024
    print(json.dumps(result))


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
