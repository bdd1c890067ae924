"""Compares new weights with the earlier weights of the meshes."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from ..base.progress import Listener
from ..character.pose_sets import measured_poses
from ..character.problem import Problem
from ..model.options import Options
from ..model.sparse_weights import SparseWeights
from .deformation import measured_report

Both: TypeAlias = "tuple[float | None, float | None]"  # (before, after)

WORSE = 0.005  # share of the earlier value; a smaller change is not visible
MUCH = 1.5  # times as much stretch: less drift cannot justify it
FOLLOWS = 0.05  # limb radii: the smallest visible reduction of drift
WEIGHTED = 0.5  # share of the vertices; if fewer had weights, no comparison is possible
ONE_BONE = 0.95  # share of the total weight; if one bone had more, no comparison is possible


def is_worse(before: float | None, after: float | None) -> bool:
    """Whether a measure is visibly worse than before."""
    return before is not None and after is not None and after - before > WORSE * before


def stretches_more(stretch: Both, drift: Both) -> bool:
    """Whether the surface visibly stretches more than before. Unless the stretch grows by half, it
    may be justified by limbs that follow their bones better. Each argument is (before, after)."""
    return is_worse(*stretch) and (much_more(*stretch) or not follows_better(*drift))


def reasons_worse(facts: dict[str, Any]) -> list[str]:
    """The keys of the facts that make new weights worse than the earlier ones, [] if none does.
    facts: see features/check/before_after.py. A lost bone alone does not decide while more measures
    than bones have become visibly better."""
    drift = facts.get("drift", (None, None))
    found = ["problems"] if is_worse(*facts.get("problems", (None, None))) else []
    for key in ("stretch", "actions"):
        if stretches_more(facts.get(key, (None, None)), drift):
            found.append(key)
    measures = [facts.get(key, (None, None)) for key in ("problems", "stretch", "actions")]
    better = sum(is_worse(after, before) for before, after in measures)
    lost = facts.get("lost", ())
    if lost and (found or len(lost) >= better):
        found.insert(0, "lost")
    return found


def much_more(was: float | None, now: float | None) -> bool:
    """Whether the surface stretches so much more that less drift cannot justify it."""
    return was is not None and now is not None and now > MUCH * was


def follows_better(before: float | None, after: float | None) -> bool:
    """Whether limbs drift visibly less."""
    return before is not None and after is not None and before - after > FOLLOWS


def has_weights(rows: SparseWeights) -> bool:
    """Whether the weights allow a comparison. Enough vertices must have weights, and nearly all
    weight must not be on one bone, because such weights stretch nothing but also bend nothing."""
    had = rows.sums() > 0
    if not len(had) or had.mean() < WEIGHTED:
        return False
    shares = np.bincount(rows.bones, rows.weights)
    return bool(shares.max() < ONE_BONE * shares.sum())


def standing(
    problem: Problem,
    present: SparseWeights,
    deformation: dict[str, Any],
    options: Options,
    threads: int = 0,
    progress: Listener | None = None,
) -> dict[str, Any]:
    """Returns {"file": deformation report with the earlier weights of the meshes, "worse": bool};
    "file" is absent if there are no weights to compare with. present: the earlier weights.
    deformation: from the report of the new weights."""
    if not has_weights(present):
        return {"worse": False}
    poses = measured_poses(problem, options)
    before = measured_report(problem, present, poses, threads=threads, progress=progress)
    after = deformation["after"]
    stretch, drift = ((before[key], after[key]) for key in ("surface_strain", "limb_drift"))
    return {"file": before, "worse": stretches_more(stretch, drift)}
