"""Measures the similarity of weights to reference weights, by the protocol of the papers on learned
weights (RigNet and its successors). Weights below LEAST count as 0. In the judged weights only, a
weight below KEPT times the largest weight of its vertex also counts as 0. The remaining weights are
scaled to sum to 1. Only vertices whose reference weights sum to 1 within SUM_ERROR are compared."""

from typing import Any

import numpy as np

from ..model.sparse_weights import SparseWeights

LEAST = 1e-3
KEPT = 0.35
SUM_ERROR = 1e-2


def cut(rows: SparseWeights, share: float = KEPT) -> SparseWeights:
    """SparseWeights without small entries."""
    largest = np.zeros(rows.count)
    np.maximum.at(largest, rows.vertices, rows.weights)
    return rows.of(rows.weights >= np.maximum(LEAST, share * largest[rows.vertices])).normalized()


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
    judged, wanted = (each.of(counts[each.vertices]) for each in (cut(rows), cut(reference, 0)))
    differences = judged.differences(wanted)[1]
    both = len(judged.bones) + len(wanted.bones) - len(differences)
    return {
        "l1": float(differences.sum() / counts.sum()),
        "precision": both / len(judged.bones) if len(judged.bones) else 0.0,
        "recall": both / len(wanted.bones),
        "vertices": int(counts.sum()),
    }
