"""Facts about bones from the animations of a file: leaf bones that are never turned, and bones that
move away from the others or that the others move away from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..base.arrays import Bools, Floats
from .bone_evidence import SKIN, SURE, weigh
from .bone_facts import BoneFacts, leaf_bones, strays

if TYPE_CHECKING:
    from .skeleton import Skeleton

MOST = 0.5  # of the deform bones: a bone that carries more of them moves the body


@dataclass(frozen=True)
class Motion:
    """Functions that read animations; they are called only when the result could matter.

    own: returns, for at least the queried bones (m,) bool, ((m,) bool: whether an animation
    rotates, moves or scales the bone by itself, (m,) the largest displacement of the bone from its
    rest position along one coordinate). poses: (p, m, 3, 4) of a few frames.
    """

    own: Callable[[Bools], tuple[Bools, Floats]]
    poses: Callable[[], Floats]


def with_motion(facts: BoneFacts, skeleton: Skeleton, points: Floats, motion: Motion) -> BoneFacts:
    """The BoneFacts, with facts from the animations. points: (n, 3) the skin at rest."""
    deform, carried = skeleton.deform, _carried_by(skeleton)
    sums, leaves = weigh(facts).sums, leaf_bones(skeleton)
    others = carried & deform & ~np.eye(len(deform), dtype=bool)
    ends = deform & (sums > SKIN) & (sums < SURE) & ~others.any(axis=1)
    found = np.zeros(len(deform), bool)
    if leaves.any() or ends.any():
        carriers = np.count_nonzero(carried & deform, axis=1) > MOST * np.count_nonzero(deform)
        turned, away = motion.own(leaves | ends | carriers)
        leaves &= ~turned
        lengths = np.linalg.norm(skeleton.tails - skeleton.heads, axis=1)
        for bone in np.flatnonzero((ends | carriers) & (away > lengths)).tolist():
            found |= ends & (~carried[bone] if carriers[bone] else carried[bone])
    if found.any():
        found = strays(motion.poses(), skeleton, points, found)
    return replace(facts, leaf=leaves, strays=found)


def _carried_by(skeleton: Skeleton) -> Bools:
    """Returns (m, m) bool: whether the bone in the column is the bone in the row or its
    descendant."""
    own = np.arange(len(skeleton.names))
    found, above = np.zeros((len(own), len(own)), bool), own
    while len(own):
        found[above, own] = True
        above = skeleton.parents[above]
        own, above = own[above >= 0], above[above >= 0]
    return found
