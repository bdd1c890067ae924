"""Measures the similarity of weights to reference weights, by the protocol of the papers on learned
weights (RigNet and its successors). Weights below LEAST count as 0. In the judged weights only, a
weight below KEPT times the largest weight of its vertex also counts as 0. The remaining weights are
scaled to sum to 1. Only vertices whose reference weights sum to 1 within SUM_ERROR are compared."""

from typing import Any

import numpy as np

from ..model.sparse_weights import SparseWeights, make_sparse_weights

LEAST = 1e-3
KEPT = 0.35
SUM_ERROR = 1e-2


def cut(rows: SparseWeights, share: float = KEPT) -> SparseWeights:
    """SparseWeights without small entries."""
    vertices = rows.vertices
    weights = np.where(rows.weights < LEAST, 0, rows.weights)
    largest = np.zeros(rows.count)
    np.maximum.at(largest, vertices, weights)
    weights = np.where(weights < share * largest[vertices], 0, weights)
    kept = weights > 0
    vertices, weights = vertices[kept], weights[kept]
    sums = np.bincount(vertices, weights, rows.count)
    return make_sparse_weights(rows.count, vertices, rows.bones[kept], weights / sums[vertices])


def likeness(rows: SparseWeights, reference: SparseWeights) -> dict[str, Any] | None:
    """Returns {"l1", "precision", "recall", "vertices"} for two SparseWeights of the same vertices
    and bones; None if no vertex counts. "l1" is the mean over vertices of the sum of differences,
    from 0 (equal) to 2. "precision" is the share of the judged influences that are also in the
    reference, and "recall" is the share of the reference's influences that the judged weights
    contain. "vertices" is the number of counted vertices. Weights with small entries are not
    completely similar to themselves."""
    counts = np.abs(reference.sums() - 1) <= SUM_ERROR
    if not counts.any():
        return None
    bones = 1 + max(rows.bones.max(initial=0), reference.bones.max(initial=0))
    keys, weights = [], []
    for each in (cut(rows), cut(reference, 0)):
        of_counted = counts[each.vertices]
        keys.append(each.vertices[of_counted] * np.int64(bones) + each.bones[of_counted])
        weights.append(each.weights[of_counted])
    every, place = np.unique(np.concatenate(keys), return_inverse=True)
    difference = np.bincount(
        place.ravel(), np.concatenate([weights[0], -weights[1]]), minlength=len(every)
    )
    both = len(keys[0]) + len(keys[1]) - len(every)
    return {
        "l1": float(np.abs(difference).sum() / counts.sum()),
        "precision": both / len(keys[0]) if len(keys[0]) else 0.0,
        "recall": both / len(keys[1]),
        "vertices": int(counts.sum()),
    }
