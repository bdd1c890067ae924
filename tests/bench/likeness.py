"""How near weights are to those of an artist, by the protocol of the papers on learned skinning, in
plain NumPy.

Weights below LEAST are dropped on both sides; then, of the weights that are judged alone, those
below SHARE of the largest of their vertex (RigNet's evaluation, Xu et al. 2020); both are
normalized. Vertices whose reference does not sum to 1 within SLACK do not count.

    precision  share of the influences found that the reference has, too
    recall     share of the influences of the reference that were found
    cut_l1     mean over vertices of sum |w - w of the reference|: from 0 to 2"""

import numpy as np
from yardstick import normalized

LEAST, SHARE, SLACK = 1e-3, 0.35, 1e-2
NOTHING = {"precision": np.nan, "recall": np.nan, "cut_l1": np.nan}


def cut(weights, share=SHARE):
    """(n, m) normalized weights without what is small."""
    kept = np.where(weights < LEAST, 0, weights)
    kept = np.where(kept < share * kept.max(1, keepdims=True), 0, kept)
    return normalized(kept)


def likeness(weights, reference):
    """{measure: value} of (n, m) weights; NaN where the reference has no vertex that counts."""
    counts = np.abs(reference.sum(1) - 1) <= SLACK
    if not counts.any():
        return NOTHING
    found, known = cut(weights[counts]), cut(reference[counts], share=0)
    both = ((found > 0) & (known > 0)).sum()
    return {
        "precision": float(both / max((found > 0).sum(), 1)),
        "recall": float(both / max((known > 0).sum(), 1)),
        "cut_l1": float(np.abs(found - known).sum(1).mean()),
    }
