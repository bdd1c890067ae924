"""Measures what repairs cost, and chooses those that make no measure worse. This module does not
use bpy, so any thread may run it."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from ...base.progress import Listener
from ...character.problem import Problem
from ...measures.deformation import measured_report
from ...model.sparse_weights import SparseWeights
from ...skeleton.poses import Poses

# "stretch", "actions" if there are any, and "drift"; None if it cannot be measured.
Measures: TypeAlias = "dict[str, float | None]"

# About motion: weights that move skin with its bone, or with what it sits on, may stretch it more.
MOTION = {"DRIFT", "IDLE_BONE", "DEAF_BONE", "LOOSE_PART", "INTERSECTION"}
SHOWN = {"stretch": 3, "actions": 3, "drift": 2}  # decimals at which a measure is displayed
COSTLY = "The surface would stretch more with new weights there, so the old ones were kept"


def measures_of(
    problem: Problem,
    rows: SparseWeights,
    poses: Poses,
    actions: Poses | None,
    threads: int,
    progress: Listener,
) -> Measures:
    """The measures of weights. poses: those of "stretch" and "drift"."""
    measures: Measures = {}
    for name, where in (("stretch", poses), ("actions", actions)):
        if where is not None and len(where):
            found = measured_report(problem, rows, where, threads=threads, progress=progress)
            measures[name] = found["surface_strain"]
            measures.setdefault("drift", found["limb_drift"])
    return measures


def is_worse(before: Measures, after: Measures) -> bool:
    """Whether any measure is displayed with a higher value."""
    both = [(before.get(key), after.get(key), digits) for key, digits in SHOWN.items()]
    return any(
        was is not None and now is not None and round(now, digits) > round(was, digits)
        for was, now, digits in both
    )


def affordable(
    order: Sequence[int],
    kept: set[int],
    every: Measures,
    measures_with: Callable[[set[int]], Measures],
) -> set[int]:
    """The keys of repairs with which no measure is worse than with the repairs in `kept` alone,
    which are among them. order: the keys of all others, of which halves are tried, the first ones
    first; every: the measures with all of them; measures_with(keys): those with some repairs."""
    now = measures_with(kept) if order else every

    def keep(keys: Sequence[int], found: Measures) -> None:
        nonlocal kept, now
        if not is_worse(now, found):
            kept, now = kept | set(keys), found
        elif len(keys) > 1:
            half = (len(keys) + 1) // 2
            for some in (keys[:half], keys[half:]):
                keep(some, measures_with(kept | set(some)))

    if order:
        keep(order, every)
    return kept
