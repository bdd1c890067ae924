"""Divides weights among the bones of a chain, such as vertebrae, as if the chain were one spine.

Along the chain, each bone has all of the weight in its middle. Between the middles of two bones,
the weight changes linearly from one bone to the other. Cost: one pass over the vertices per bone.
Source: Thiery & Eisemann, ARAPLBS, 2018, section 7 and Figure 14.
"""

import numpy as np

from ...base.arrays import Floats, Integers
from ...model.sparse_weights import SparseWeights, all_entries
from .handles import split_weights


def as_one_spine(rows: SparseWeights, chain: Integers, u: Floats, middles: Floats) -> SparseWeights:
    """The weights after the bones of a chain share their sum at each vertex. All other weights stay
    unchanged.

    chain (k,): bones, from the first one to the last one. u, middles: see along_chain().
    """
    others = ~np.isin(rows.bones, chain)
    total = rows.of(~others).sums()
    even = np.interp(u, middles, (np.arange(len(chain)) + 0.5) / len(chain))
    which, inner, values = split_weights(even, total, len(chain), middles=True)
    shared = which, np.asarray(chain)[inner], values
    return all_entries(rows.count, rows.of(others).columns, shared)


def along_chain(points: Floats, joints: Floats) -> tuple[Floats, Floats]:
    """The positions of points (n, 3) along a line through joints, (n,) from 0 to 1, and those of
    the middles of its pieces, (k,). joints (k + 1, 3): the head of each bone, and the tail of the
    last one."""
    line = np.diff(joints, axis=0)
    length = np.maximum(np.linalg.norm(line, axis=1), 1e-150)
    begin = np.append(0, np.cumsum(length))
    u, best = np.zeros(len(points)), np.full(len(points), np.inf)
    for k, piece in enumerate(line):
        share = np.clip((points - joints[k]) @ piece / length[k] ** 2, 0, 1)
        distance = np.linalg.norm(points - joints[k] - share[:, None] * piece, axis=1)
        u = np.where(distance < best, (begin[k] + share * length[k]) / begin[-1], u)
        best = np.minimum(best, distance)
    return np.clip(u, 0, 1), (begin[1:] + begin[:-1]) / (2 * begin[-1])
