"""Runs every method on one character and judges the results in poses for which no method was
optimized. This module does not use bpy, so it works in any thread and in scripts without Blender
(arrays.py)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.arrays import Integers
from ...base.engine import engine, engine_errors
from ...base.progress import Listener, Progress
from ...base.refusal import Refused
from ...measures.deformation import in_percent
from ...model.options import Options
from ...model.sparse_weights import SparseWeights
from .judge import RANDOM, Case, Judge, Outcome, View, best_of
from .methods import REFERENCE, WEIGHTS, Work, find_methods
from .options import CompareOptions

if TYPE_CHECKING:
    from .methods import Method, Posed

OURS_IN_FILE = "Weights in the file, by Auto-weight"
METHODS_SHARE, JUDGE_SHARE = 0.5, 0.5  # shares of the time of compare()


@dataclass
class Comparison:
    case: Case
    options: CompareOptions
    outcomes: list[Outcome]
    parts: list[tuple[str, Integers]]  # [(name, bones)]
    views: list[View]
    seconds: float

    @property
    def done(self) -> list[Outcome]:
        return [outcome for outcome in self.outcomes if outcome.reason is None]

    @property
    def failed(self) -> list[Outcome]:
        return [outcome for outcome in self.outcomes if outcome.reason is not None]

    @property
    def in_order(self) -> tuple[list[Outcome], list[Outcome]]:
        """The results in the order of a page: ours, heat, the weights in the file, and the best of
        the other results in random poses. The rest follows in the order of the registry."""
        heat = "BLENDER_HEAT" if self.find("BLENDER_HEAT") else "HEAT"
        first = [each for name in ("OURS", heat, "PRESENT") if (each := self.find(name))]
        rest = [each for each in self.done if each not in first]
        best = best_of((outcome for outcome in rest if outcome.kind == WEIGHTS), RANDOM)
        if best:
            first.append(best)
            rest.remove(best)
        return first, rest

    def find(self, identifier: str) -> Outcome | None:
        return next((each for each in self.done if each.identifier == identifier), None)

    def as_dict(self) -> dict[str, Any]:
        problem = self.case.problem
        names = problem.skeleton.names
        return {
            "character": self.case.name,
            "objects": problem.names,
            "vertices": len(problem.arguments["vertices"]),
            "triangles": len(problem.arguments["triangles"]),
            "bones": int(problem.skeleton.deform.sum()),
            "poses": {kind: len(poses) for kind, poses in self.case.poses.items()},
            "options": self.options.as_dict(),
            "engine": engine.__version__,
            "seconds": self.seconds,
            "notes": self.case.notes,
            "parts": {name: [names[b] for b in bones] for name, bones in self.parts},
            "methods": [outcome.as_dict() for outcome in self.outcomes],
        }


def compare(
    case: Case,
    options: CompareOptions | None = None,
    threads: int = 0,
    progress: Listener | None = None,
    methods: Sequence[str] | None = None,
) -> Comparison:
    """Returns the Comparison of methods on a Case. methods: identifiers, by default all.

    Raises araplbs.Cancelled when progress (a Listener) stops it.
    """
    start = time.perf_counter()
    options, progress = options or CompareOptions(), Progress.of(progress)
    wanted = find_methods(methods)
    parts: dict[str, Progress] = {}
    total, begin = sum(method.share for method in wanted), 0.0
    for method in wanted:
        size = METHODS_SHARE * method.share / total
        parts[method.identifier] = progress.part(begin, size, method.name)
        begin += size
    makers, found = _Makers(case, options, threads, parts), []
    for method in wanted:
        outcome = Outcome(method.identifier, method.name, method.about, method.kind)
        if method.identifier == "PRESENT" and case.present_is_ours:
            outcome.name = OURS_IN_FILE
        found.append((method, outcome, makers.result_of(method, outcome)))
    judge = Judge(case, threads)
    good = [entry for entry in found if entry[2] is not None]
    total, begin = sum(method.judging for method, *_rest in good), METHODS_SHARE
    for method, outcome, result in good:
        size = JUDGE_SHARE * method.judging / total
        start_of_one = time.perf_counter()
        try:
            judge(method, outcome, result, progress.part(begin, size, method.name))
        except _failures() as reason:
            outcome.reason = str(reason)
        if method.kind == REFERENCE:  # the generator does all of its work here
            outcome.seconds = time.perf_counter() - start_of_one
        begin += size
    outcomes = [outcome for _method, outcome, _result in found]
    _tell_distances(outcomes, case.problem.surface.size)
    return Comparison(
        case, options, outcomes, judge.parts, judge.views, time.perf_counter() - start
    )


def _tell_distances(outcomes: Sequence[Outcome], size: float) -> None:
    """Reports the distance of all results from the best available reference, which is the last one
    in the registry."""
    references = [o for o in outcomes if o.kind == REFERENCE and o.reason is None]
    if not references:
        return
    for outcome in outcomes:
        if outcome.reason is None and outcome is not references[-1]:
            apart = (outcome.shown[1:] - references[-1].shown[1:]).astype(float)
            outcome.to_reference = float(np.sqrt((apart**2).sum(axis=-1).mean()) / size)


def _failures() -> tuple[type[Exception], ...]:
    return (Refused, ValueError, MemoryError, *engine_errors("SolverError"))


class _Makers:
    """Runs the methods. Each one runs once, also if others build on it."""

    def __init__(
        self, case: Case, options: CompareOptions, threads: int, parts: dict[str, Progress]
    ) -> None:
        self.case, self.threads, self.parts = case, threads, parts
        self.options = Options(max_influences=options.max_influences, seed=options.seed)
        # {identifier: (result or None, seconds, reason)}
        self.made: dict[str, tuple[Any, float, str | None]] = {}

    def result_of(self, method: Method, outcome: Outcome) -> SparseWeights | Posed | None:
        """SparseWeights or a Posed; None if the method cannot run, with the reason stored in
        `outcome`."""
        try:
            result, seconds, outcome.reason = self._run(method, self.parts[method.identifier])
        except Refused as reason:  # seconds of the methods it builds on
            outcome.reason = str(reason)
            return None
        outcome.seconds = None if method.identifier == "PRESENT" else seconds
        return result

    def _run(self, method: Method, asking: Progress) -> tuple[Any, float, str | None]:
        """asking: the progress of the method that builds on this one, if this one is not wanted."""
        identifier, case = method.identifier, self.case
        if identifier in self.made:
            return self.made[identifier]
        part = self.parts.get(identifier) or asking

        def weights_of(other: str) -> SparseWeights:
            (base,) = find_methods([other])
            rows, _seconds, reason = self._run(base, asking)
            if reason:
                raise Refused(f"{base.name}: {reason}")
            return rows

        part.check(method.name, 0.0)
        given = {"PRESENT": case.present, **case.given}
        work = Work(case.problem, self.options, self.threads, part, given, weights_of)
        if method.kind != WEIGHTS:
            weights_of("OURS")  # not part of the time of this method
        start, result, reason = time.perf_counter(), None, None
        try:
            result = method.make(work)
        except _failures() as error:
            reason = str(error)
        seconds = case.seconds.get(identifier, time.perf_counter() - start)
        self.made[identifier] = result, seconds, reason
        return self.made[identifier]


def methods_compared(report: dict[str, Any]) -> str:
    """ "15 methods", or "14 of 15 methods" if one could not run."""
    methods = report["methods"]
    done = sum(method["reason"] is None for method in methods)
    every = "1 method" if len(methods) == 1 else f"{len(methods)} methods"
    return every if done == len(methods) else f"{done} of {every}"


def compare_summary(report: dict[str, Any]) -> str:
    """The summary line for the dictionary of a Comparison."""
    done = [m for m in report["methods"] if m["reason"] is None]
    which = methods_compared(report)
    line = f"{report['vertices']:,} vertices, {which} compared in {report['seconds']:.1f} s"
    judged = [m for m in done if m["kind"] != REFERENCE]
    known = [m for m in judged if m["measures"][RANDOM]["surface_strain"] is not None]
    if known:
        best = min(known, key=lambda method: method["measures"][RANDOM]["surface_strain"])
        strain = in_percent(best["measures"][RANDOM]["surface_strain"])
        line += f", least Stretch: {best['name']}, {strain}"
    return line
