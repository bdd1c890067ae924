"""Computes the weights of new vertices in patches, with all other vertices locked. This module does
not use bpy, so any thread may run it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.arrays import Bools, Floats, Integers
from ..base.extent import triangle_sides
from ..base.progress import Listener, Progress
from ..character.mesh import places_of
from ..character.problem import Problem
from ..model.options import Options
from ..model.sparse_weights import SparseWeights, all_entries, dense_of
from ..solvers.solve import solve

if TYPE_CHECKING:
    from ..character.patch import Patch
    from ..solvers.solve import Solution

LEAST_INITIAL = 0.001  # smaller weights do not count as initial influences
AS_LOW, SMOOTHER = 1.01, 0.7  # ratios to the energy and the roughness from fresh weights
MOST = 1000  # new vertices: for larger regions, the border is not sufficient
STEPS = 200  # maximum conjugate gradient iterations: this is only the starting point
EXACT = 1e-3  # share of the first residual


def written_rows(
    rows: SparseWeights, patch: Patch, count: int, groups: Bools, opposite: Integers | None
) -> tuple[SparseWeights, Bools, Bools]:
    """Returns (the rows of a patch as those of the whole mesh, which has `count` vertices; (m,)
    bool: the bones that receive a group; (n,) bool: the vertices that are written). groups: the
    bones that may receive one. opposite (m,): the bone on the other side, if mirror images need
    groups to follow."""
    whole, new = patch.in_whole(rows, count)
    used = np.zeros(len(groups), bool)
    used[whole.bones[new[whole.vertices] & (whole.weights > 0)]] = True
    if opposite is not None:
        used |= used[opposite]
    return whole, groups & used, new


def solve_new(
    problem: Problem, options: Options, threads: int = 0, progress: Listener | None = None
) -> Solution:
    """Returns the Solution of a Problem that consists of patches. See solvers.solve.

    The problem is solved from two sets of initial weights. Fresh weights include all bones but give
    them too much weight in a patch. The surrounding weights, continued into the patch, lack bones
    that are new there. The result from the surrounding weights is used if its energy is as low and
    it is much smoother.
    """
    going_on = _from_border(problem)
    if going_on is None:
        return solve(problem, options, threads, progress)
    progress = Progress.of(progress)
    fresh = solve(problem, options, threads, progress.part(0, 0.5, energies=True))
    problem.arguments.update(weights=going_on, start_from_weights=True)
    other = solve(problem, options, threads, progress.part(0.5, 0.5, energies=True))
    as_low = other.report["energy_after"] <= AS_LOW * fresh.report["energy_after"]
    smoother = _roughness(problem, other) < SMOOTHER * _roughness(problem, fresh)
    best = other if as_low and smoother else fresh
    return replace(best, seconds=fresh.seconds + other.seconds)


def _roughness(problem: Problem, solution: Solution) -> float:
    """The mean difference between the weights of two neighbors, over the edges at new vertices."""
    arguments, rows = problem.arguments, solution.rows
    edges = np.concatenate([triangle_sides(arguments["triangles"]), arguments["edges"]])
    edges = edges[~arguments["locked_vertices"][edges].all(1)]
    dense = dense_of(rows, len(problem.skeleton.names))
    return np.abs(dense[edges[:, 0]] - dense[edges[:, 1]]).sum() / max(len(edges), 1)


def _from_border(problem: Problem) -> SparseWeights | None:
    """SparseWeights that continue the locked weights; None if the locked weights are not
    sufficient."""
    arguments = problem.arguments
    if "locked_vertices" not in arguments:  # all vertices are new
        return None
    locked, given = arguments["locked_vertices"], arguments["weights"]
    new = np.flatnonzero(~locked)
    held = locked & (given.sums() > 0)
    if len(new) > MOST or not held.any():
        return None
    rows = inpaint(arguments, held)
    sums = rows.sum(1, keepdims=True)
    rows = np.where(sums > 0.5, rows / np.maximum(sums, 0.5), 0)  # others start from fresh weights
    rows[rows < LEAST_INITIAL] = 0
    mine, bones = np.nonzero(rows)
    keeps = arguments["locked_bones"][arguments["vertex_sets"][new[mine]], bones]
    free = new[mine[~keeps]], bones[~keeps], rows[mine, bones][~keeps]
    return all_entries(given.count, given.of(problem.locked_entries(given)).columns, free)


def inpaint(arguments: dict[str, Any], held: Bools) -> Floats:
    """Weights (new vertices, m) that continue those of fixed vertices, (n,) bool, harmonically over
    equally weighted edges; 0 without a connection to a fixed vertex. arguments: the arguments of
    the solver."""
    given: SparseWeights = arguments["weights"]
    new = np.flatnonzero(~arguments["locked_vertices"])
    place = places_of(arguments["vertices"])
    edges = np.concatenate([triangle_sides(arguments["triangles"]), arguments["edges"]])
    pairs = np.sort(place[edges], axis=1)
    pairs = np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)
    count = place.max() + 1
    taken = held[given.vertices]
    bones, column = np.unique(given.bones[taken], return_inverse=True)
    fixed = np.zeros((count, len(bones)))
    fixed[place[given.vertices[taken]], column.reshape(-1)] = given.weights[taken]
    free = np.ones(count, bool)
    free[place[held]] = False
    sums = fixed.sum(1, keepdims=True)
    fixed = np.divide(fixed, sums, out=np.zeros_like(fixed), where=sums > 0)
    found = fixed + _harmonic(pairs, free, fixed)
    out = np.zeros((len(new), arguments["bone_heads"].shape[0]))
    out[:, bones] = np.maximum(found[place[new]], 0)
    return out


def _harmonic(pairs: Integers, free: Bools, fixed: Floats) -> Floats:
    """Replaces free vertices by the mean of their neighbors, using conjugate gradients column by
    column."""
    pairs = pairs[free[pairs].any(1)]
    both = np.concatenate([pairs, pairs[:, ::-1]])
    both = both[np.argsort(both[:, 0], kind="stable")]
    degree = np.bincount(both[:, 0], minlength=len(free))
    begin = np.flatnonzero(np.diff(both[:, 0], prepend=-1))
    rows = both[begin, 0]
    scale = np.maximum(degree, 1)[:, None]

    def around(x: Floats) -> Floats:
        """Sums over the free neighbors."""
        total = np.zeros_like(x)
        if len(rows):
            total[rows] = np.add.reduceat(x[both[:, 1]], begin, axis=0)
        return total * free[:, None]

    x = np.zeros_like(fixed)
    residual = around(fixed)
    toward = residual / scale
    before = (residual * residual / scale).sum(0)
    least = EXACT**2 * before
    for _ in range(STEPS):
        if (before <= least).all():
            break
        image = (scale * toward - around(toward)) * free[:, None]
        step = before / np.maximum((toward * image).sum(0), 1e-300)
        x += step * toward
        residual -= step * image
        now = (residual * residual / scale).sum(0)
        toward = residual / scale + now / np.maximum(before, 1e-300) * toward
        before = now
    return x
