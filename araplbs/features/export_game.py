"""Weights as a game engine reads them: no more influences of a vertex than it takes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..base.arrays import Floats, Integers

Entries = tuple[Integers, Integers, Floats]  # of vertices, groups, weights


def limited(entries: Entries, is_bone: Sequence[bool], most: int, size: int) -> tuple[Entries, int]:
    """(entries, how many vertices had more influences of bones than `most`): these keep the
    largest, which sum to what all did. Groups that are not bones stay. is_bone: of each group;
    size: number of the vertices."""
    known = np.array([*is_bone, False])
    vertices, groups, weights = entries
    weights = weights.astype(np.float64)
    own = known[np.minimum(groups, len(known) - 1)] & (weights > 0)
    place = np.flatnonzero(own)
    order = place[np.lexsort([groups[place], -weights[place], vertices[place]])]
    at = vertices[order]
    first = np.ones(len(order), bool)
    first[1:] = at[1:] != at[:-1]
    start = np.maximum.accumulate(np.where(first, np.arange(len(order)), 0))
    rank = np.arange(len(order)) - start
    many = np.unique(at[rank >= most])
    if not len(many):
        return entries, 0
    whole = np.bincount(at, weights[order], size)
    stays = order[rank < most]
    left = np.bincount(vertices[stays], weights[stays], size)
    share = np.ones(size)
    share[many] = whole[many] / left[many]
    weights[stays] *= share[vertices[stays]]
    keep = np.ones(len(weights), bool)
    keep[order[rank >= most]] = False
    return (vertices[keep], groups[keep], weights[keep]), len(many)
