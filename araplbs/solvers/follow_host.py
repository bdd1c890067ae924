"""Computes weights that move a shell together with the surface that it lies on.

A shell takes the weights of the nearest point of the other part, so both move in the same way.
Weights of meshes without shells are not changed. The solver treats both sides of split edges as one
position (Problem.solver()).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.arrays import Bools, Floats, Integers
from ..character.mesh_faults import Shell, Surface, find_shells, nearest_on, untouched
from ..character.problem import Problem
from ..model.options import Options
from ..model.sparse_weights import SparseWeights, all_entries

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
    return _replaced(rows, own, *mixed(rows, corners, at), most)


def mixed(rows: SparseWeights, corners: Integers, at: Floats) -> tuple[Integers, Integers, Floats]:
    """Returns (indices (e,), bones (e,), weights (e,)) for points in triangles or tets. corners
    (k, c): vertices; at (k, c): barycentric coordinates."""
    corner, entries = rows.entries_of(corners.reshape(-1))
    places, bones = corner // corners.shape[1], rows.bones[entries].astype(np.int64)
    weights = rows.weights[entries] * at.reshape(-1)[corner]
    stride = int(bones.max(initial=0)) + 1
    keys, inverse = np.unique(places * stride + bones, return_inverse=True)
    sums: Any = np.bincount(inverse.reshape(-1), weights)
    return keys // stride, keys % stride, sums


def _replaced(
    rows: SparseWeights,
    own: Integers,
    places: Integers,
    bones: Integers,
    weights: Floats,
    most: int,
) -> SparseWeights:
    """The rows, with the entries of the vertices `own` replaced by new ones, normalized and limited
    to `most` bones. places: indices in `own`."""
    kept = weights >= LEAST
    places, bones, weights = places[kept], bones[kept], weights[kept]
    if most:
        order = np.lexsort((bones, -weights, places))
        starts = np.searchsorted(places[order], np.arange(len(own)))
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order)) - starts[places[order]]
        few = rank < most
        places, bones, weights = places[few], bones[few], weights[few]
    sums: Any = np.bincount(places, weights, len(own))
    given: Bools = sums > 0
    weights = weights / sums[places]
    stays = np.ones(rows.count, bool)
    stays[own[given]] = False
    old = stays[rows.vertices]
    return all_entries(rows.count, rows.of(old).columns, (own[places], bones, weights))
