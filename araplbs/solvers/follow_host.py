"""Computes weights that move a shell together with the surface that it lies on.

A shell takes the weights of the nearest point of the other part, so both move in the same way.
Weights of meshes without shells are not changed. The solver treats both sides of split edges as one
position (Problem.solver()).
"""

from __future__ import annotations

import numpy as np

from ..base.arrays import Floats, Integers, ranks
from ..character.mesh_faults import Shell, Surface, find_shells, nearest_on, untouched
from ..character.problem import Problem
from ..model.options import Options
from ..model.sparse_weights import SparseWeights, all_entries, summed_entries

LEAST = 1e-4  # smaller weights are dropped


def hold_together(
    problem: Problem,
    rows: SparseWeights,
    options: Options,
    threads: int = 0,
    parts: int | None = None,
) -> tuple[SparseWeights, dict[str, int]]:
    """Returns (SparseWeights, {kind: count}) for all vertices of a Problem. Without shells, the
    rows are unchanged. parts: the parts of the mesh, if its solver has found them."""
    if problem.numbers is not None:  # a patch: the rest of its mesh keeps its weights
        return rows, {}
    surface = problem.surface
    done: dict[str, int] = {}
    for shell in find_shells(surface, threads) if parts != 1 else ():
        rows = _follow(problem, surface, rows, shell, options.max_influences, threads)
        done["shells"] = done.get("shells", 0) + 1
    if surface.split and not surface.split.exact:
        done["closed_edges"] = surface.split.edges
    return rows, done


def _follow(
    problem: Problem,
    surface: Surface,
    rows: SparseWeights,
    shell: Shell,
    most: int,
    threads: int,
) -> SparseWeights:
    own = shell.vertices[untouched(problem, shell.vertices)]
    if not len(own):
        return rows
    corners, at, _heights, _parts = nearest_on(surface, shell.host, surface.vertices[own], threads)
    return _replaced(rows, own, mixed(rows, corners, at), most)


def mixed(rows: SparseWeights, corners: Integers, at: Floats) -> SparseWeights:
    """The weights of points in triangles or tets. corners (k, c): vertices; at (k, c): barycentric
    coordinates."""
    parts = rows.of_vertices(corners.reshape(-1))
    shares = parts.weights * at.reshape(-1)[parts.vertices]
    return summed_entries(len(corners), parts.vertices // corners.shape[1], parts.bones, shares)


def _replaced(
    rows: SparseWeights, vertices: Integers, new: SparseWeights, most: int
) -> SparseWeights:
    """The rows, with those of these vertices replaced by new ones, normalized and limited to `most`
    bones."""
    new = new.of(new.weights >= LEAST)
    if most:
        new = new.of(ranks(new.vertices, -new.weights) < most)
    sums = new.sums()
    stays = np.ones(rows.count, bool)
    stays[vertices[sums > 0]] = False
    weights = new.weights / sums[new.vertices]
    replaced = vertices[new.vertices], new.bones, weights
    return all_entries(rows.count, rows.of(stays[rows.vertices]).columns, replaced)
