"""Changes how far a bone reaches in finished weights."""

from __future__ import annotations

import numpy as np

from ..base.arrays import Bools, Floats
from ..model.sparse_weights import SparseWeights

STEPS = 6.0  # doublings of a bone's share at the ends of the range of Reach
DUST = 1e-3  # smaller weights are removed


def with_reach(rows: SparseWeights, bones: Bools, free: Bools, reach: float) -> SparseWeights:
    """The weights after these bones (m,) bool reach farther (reach up to 1) or less far (down to
    -1). Each vertex keeps its sum and its weights of bones that are not free (m,) bool.

    The ratio of the bones' weights to those of the neighbors is multiplied by the same factor at
    each vertex. This moves a smooth border between two bones along the surface, keeps its width,
    and gives no vertex a new influence."""
    vertices, own = rows.vertices, free[rows.bones]
    total = np.bincount(vertices, rows.weights * own, rows.count)

    def as_before(weights: Floats) -> Floats:
        sums = np.bincount(vertices, weights, rows.count)
        scale = np.divide(total, sums, out=np.zeros(rows.count), where=sums > 0)
        return np.asarray(weights * scale[vertices])

    factor = np.where(bones[rows.bones], 2.0 ** (STEPS * reach), 1.0)
    raised = as_before(rows.weights * factor * own)
    raised = as_before(np.where((raised < DUST) & (rows.weights >= DUST), 0.0, raised))
    weights = np.where(own, raised, rows.weights)
    return rows._replace(weights=weights).of(weights > 0)
