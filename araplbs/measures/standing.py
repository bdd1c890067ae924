"""Compares new weights with the earlier weights of the meshes. It does not use bpy, so any thread
may run it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..base.progress import Listener
from ..character.pose_sets import measured_poses
from .deformation import measured_report

if TYPE_CHECKING:
    from ..character.problem import Problem
    from ..model.options import Options
    from ..model.sparse_weights import SparseWeights

Both: TypeAlias = "tuple[float | None, float | None]"  # (before, after)

WORSE = 0.005  # of what it was: less is not seen
MUCH = 1.5  # times as much stretch: no drift is worth that
FOLLOWS = 0.05  # limb radii: so much less of drift is seen
WEIGHTED = 0.5  # of the vertices: where fewer had weights, there is nothing to compare with
ONE_BONE = 0.95  # of all weight: where one bone had more, there is nothing either


def is_worse(before: float | None, after: float | None) -> bool:
    """Whether a measure is worse than before in the digits that people see."""
    return before is not None and after is not None and after - before > WORSE * before


def stretches_more(stretch: Both, drift: Both) -> bool:
    """Whether the surface stretches more in the digits that people see: by half, or by less if
    limbs do not follow their bones better. Each (before, after)."""
    was, now = stretch
    if was is None or now is None or not is_worse(was, now):
        return False
    return much_more(was, now) or not follows_better(*drift)


def much_more(was: float | None, now: float | None) -> bool:
    """Whether the surface stretches so much more that no drift is worth it."""
    return was is not None and now is not None and now > MUCH * was


def follows_better(before: float | None, after: float | None) -> bool:
    """Whether limbs drift visibly less."""
    return before is not None and after is not None and before - after > FOLLOWS


def has_weights(rows: SparseWeights) -> bool:
    """Whether enough of the vertices have weights for a comparison with others, and not nearly all
    of one bone, because such weights stretch nothing but also move nothing."""
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
    """{"file": report of deformation with the weights that the meshes had, "worse": bool}; without
    "file" if there is nothing to compare with. present: those weights. deformation: of the report
    of the new ones."""
    if not has_weights(present):
        return {"worse": False}
    poses = measured_poses(problem, options)
    before = measured_report(problem, present, poses, threads=threads, progress=progress)
    after = deformation["after"]
    stretch, drift = ((before[key], after[key]) for key in ("surface_strain", "limb_drift"))
    return {"file": before, "worse": stretches_more(stretch, drift)}
