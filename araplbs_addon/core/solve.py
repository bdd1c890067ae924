"""Runs the solver of a problem, step by step. No bpy here: any thread may do it."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .armature_modifier import report_deformers
from .deformation import compare
from .error_map import pose_set
from .native_module import araplbs
from .sparse_weights import SparseWeights, make_sparse_weights

# progress(stage, fraction done 0..1, relative energy or None): return False to stop.
Progress = Callable[[str, float, float | None], bool | None]

# Shares of the time, as measured on characters of 3,000 to 50,000 vertices: the first part, and
# how much of what is left one iteration does (their number is not known beforehand).
INITIAL_SHARE = 0.25
ITERATION_SHARE = 0.2

# The stages before the first iteration, in their order.
STAGES = {
    "mesh": 0,
    "links between parts": 1,
    "visibility": 2,
    "heat weights": 3,
    "biharmonic weights": 3,
    "assembly": 4,
}
LAST_STAGE = 5

LEAST_INITIAL = 0.001  # smaller initial weights are not told of: the solver hands out none either


@dataclass
class Solution:
    """Weights of all vertices of a problem, complete and checked, and the solver's report."""

    rows: SparseWeights
    report: dict[str, Any]
    seconds: float


class Share:
    """Turns the solver's progress of single calls into that of the whole."""

    def __init__(self, progress):
        self.progress = progress
        self.begin, self.size = 0.0, INITIAL_SHARE
        self.reached = 0.0
        self.energy = None

    def __call__(self, stage, fraction):
        if self.energy is None:  # each of the first stages counts up from 0
            fraction = (STAGES.get(stage, LAST_STAGE) + fraction) / (LAST_STAGE + 1)
        self.reached = max(self.reached, self.begin + self.size * fraction)  # stages begin at 0
        return self.progress(stage, self.reached, self.energy)

    def iterated(self, energy):
        self.begin += self.size
        self.size = ITERATION_SHARE * (1 - self.begin)
        self.energy = energy


def solve(problem, options, threads=0, progress: Progress | None = None):
    """The Solution of a Problem.

    Raises araplbs.Cancelled when progress returns False, araplbs.SolverError when there is no
    solution, ValueError for input that the solver refuses.
    """
    start = time.perf_counter()
    share = Share(progress) if progress else None
    solver = araplbs.Solver(
        **{**options.solver_arguments(), **problem.arguments}, threads=threads, progress=share
    )
    start_rows = initial_rows(solver)
    while not solver.done:
        if share:
            share.iterated(float(solver.energies[-1]))
        solver.iterate(1)
    rows = SparseWeights(*solver.sparse_weights)
    check(problem, rows, options.max_influences)
    report = {
        **solver.report,
        **report_deformation(problem, options, start_rows, rows, threads, share),
    }
    return Solution(rows, report, time.perf_counter() - start)


def initial_rows(solver):
    """The SparseWeights that a solver starts from."""
    dense = solver.initial_weights
    vertices, bones = np.nonzero(dense >= LEAST_INITIAL)
    return make_sparse_weights(len(dense), vertices, bones, dense[vertices, bones])


def report_deformation(problem, options, before, after, threads, share):
    """The part of a report about what is seen of SparseWeights before and after. share: progress or
    None."""

    def told(stage):
        return share and (lambda fraction: share(stage, fraction))

    poses = pose_set(problem, options)
    found = compare(problem, before, after, poses, threads, told("surface strain"))
    if not any(problem.deformers):
        return {"deformation": found}
    told = told("surface strain as Blender deforms")
    return {
        "deformation": found,
        "deformers": report_deformers(problem, poses, before, after, threads, told),
    }


def check(problem, rows, most):
    """Raises araplbs.SolverError unless the weights may be written: the promise to the user.

    most: influences that a vertex may have beside locked ones, 0 for any number.
    """
    if not np.isfinite(rows.weights).all() or (rows.weights < 0).any():
        raise araplbs.SolverError("the weights are not finite and positive")
    m = len(problem.skeleton.names)
    for part, name, (locked_bones, locked_vertices) in zip(
        problem.split(rows), problem.names, problem.locks, strict=True
    ):
        free = np.ones(part.count, bool) if locked_vertices is None else ~locked_vertices
        is_locked = (np.zeros(m, bool) if locked_bones is None else locked_bones)[part.bones]
        locked_sums = np.bincount(part.vertices, part.weights * is_locked, part.count)
        wrong = np.flatnonzero(free & (locked_sums < 1) & (np.abs(part.sums() - 1) > 1e-6))
        if len(wrong):
            raise araplbs.SolverError(
                f"the weights of vertex {wrong[0]} of '{name}' do not sum to 1"
            )
        open_count = np.bincount(part.vertices[~is_locked], minlength=part.count)
        if most and (open_count[free] > most).any():
            raise araplbs.SolverError(f"a vertex of '{name}' has too many influences")
