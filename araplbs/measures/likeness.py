"""The likeness of weights to others, by the protocol of the papers that learn weights (RigNet and
its successors): weights below LEAST count as 0, then, of those that are judged alone, those below
KEPT of the largest of their vertex; the rest is scaled to sum to 1. Vertices count whose reference
sums to 1 within SUM_ERROR."""

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
    """{"l1", "precision", "recall", "vertices"} of two SparseWeights of the same vertices and
    bones: mean over vertices of the sum of differences, 0 (the same) to 2; the share of the
    influences that the reference has, too; the share of the reference's that are there; how many
    vertices count. Weights with small entries are not completely like themselves. None if no vertex
    counts."""
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
