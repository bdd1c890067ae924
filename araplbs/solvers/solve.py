"""Runs the solver of a problem step by step."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.engine import engine
from ..base.progress import Listener, Progress, SolverProgress
from ..character.pose_sets import measured_poses
from ..character.problem import Problem
from ..character.rigid_parts import rigid_bones
from ..measures.armature_modifier import report_deformers
from ..measures.deformation import compare
from ..measures.doubtful_parts import doubtful_parts
from ..model.options import Options
from ..model.sparse_weights import SparseWeights
from .follow_host import hold_together

LEAST_INITIAL = 0.001  # smaller initial weights are dropped, as in the solver's result


@dataclass
class Solution:
    """Complete and checked weights of all vertices of a problem, and the solver's report."""

    rows: SparseWeights
    report: dict[str, Any]
    seconds: float


def solve(
    problem: Problem,
    options: Options,
    threads: int = 0,
    progress: Listener | None = None,
    later: bool = False,
) -> Solution:
    """Returns the Solution of a Problem. later: whether the earlier deformation in the report is
    measured on first access.

    Raises araplbs.Cancelled when progress (a Listener) stops it, araplbs.SolverError if there is no
    solution, and ValueError for input that the solver rejects.
    """
    start = time.perf_counter()
    progress = SolverProgress(progress)
    unshared = problem.unshared_arguments
    solver = problem.solver(options, threads, progress, **unshared)
    later = later and not any(problem.deformers)
    start_rows = None if later else initial_rows(solver, progress)

    def before() -> SparseWeights:
        again = start_rows is None
        return initial_rows(problem.solver(options, threads, **unshared)) if again else start_rows

    rows, found = iterate_to_end(solver, progress), solver.report
    rows = problem.with_twist_bones(rows, solver.rigid_parts, options.max_influences)
    rows, held = hold_together(problem, rows, options, threads, found["parts"])
    check(problem, rows, options.max_influences)
    report = {
        **found,
        "rigid_bones": rigid_bones(solver.rigid_parts, rows),
        "doubtful_parts": doubtful_parts(problem, rows, threads, progress)
        if found["parts"] > 1
        else [],
        **({"held_together": held} if held else {}),
        **report_deformation(problem, options, before, rows, threads, progress, later),
    }
    return Solution(rows, report, time.perf_counter() - start)


def iterate_to_end(solver: "engine.Solver", progress: SolverProgress) -> SparseWeights:
    """Runs a solver to its end, with this SolverProgress, and returns the SparseWeights."""
    while not solver.done:
        progress.iterated(float(solver.energies[-1]))
        solver.iterate(1)
    return SparseWeights(*solver.sparse_weights)


def initial_rows(solver: "engine.Solver", listener: Listener | None = None) -> SparseWeights:
    """The SparseWeights from which a solver starts."""
    progress = Progress.of(listener)
    progress.check("initial weights", 0)
    start, bones, weights = solver.sparse_initial_weights
    progress.check("initial weights", 0)
    return SparseWeights(start, bones, weights).of(weights >= LEAST_INITIAL)


def report_deformation(
    problem: Problem,
    options: Options,
    before: Callable[[], SparseWeights],
    after: SparseWeights,
    threads: int,
    progress: Listener | None,
    later: bool = False,
) -> dict[str, Any]:
    """The part of a report about the visible measures of SparseWeights before and after. See
    compare()."""
    progress, poses = Progress.of(progress), measured_poses(problem, options)
    part = progress.part(0, 1, "surface strain")
    found = compare(problem, before, after, poses, threads, part, later)
    if not any(problem.deformers):
        return {"deformation": found}
    part = progress.part(0, 1, "surface strain as Blender deforms")
    return {
        "deformation": found,
        "deformers": report_deformers(problem, poses, before(), after, threads, part),
    }


def check(problem: Problem, rows: SparseWeights, most: int) -> None:
    """Raises araplbs.SolverError unless the weights satisfy everything that the user was promised.
    Only such weights may be written.

    most: the maximum number of influences per vertex in addition to locked ones, 0 for unlimited.
    """
    if not np.isfinite(rows.weights).all() or (rows.weights < 0).any():
        raise engine.SolverError("the weights are not finite and positive")
    m = len(problem.skeleton.names)
    for part, name, (locked_bones, locked_vertices) in zip(
        problem.split(rows), problem.names, problem.locks, strict=True
    ):
        free = np.ones(part.count, bool) if locked_vertices is None else ~locked_vertices
        is_locked = (np.zeros(m, bool) if locked_bones is None else locked_bones)[part.bones]
        locked_sums = np.bincount(part.vertices, part.weights * is_locked, part.count)
        wrong = np.flatnonzero(free & (locked_sums < 1) & (np.abs(part.sums() - 1) > 1e-6))
        if len(wrong):
            raise engine.SolverError(
                f"the weights of vertex {wrong[0]} of '{name}' do not sum to 1"
            )
        open_count = np.bincount(part.vertices[~is_locked], minlength=part.count)
        if most and (open_count[free] > most).any():
            raise engine.SolverError(f"a vertex of '{name}' has too many influences")
