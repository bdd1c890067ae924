"""Plans trials of controls. Each pose tests as many controls as possible, provided that they do not
affect the same bones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..base.arrays import Bools, Integers
from .rig_reaches import Reach
from .rig_relations import Relations, closure

Trial = tuple[int, bool]  # (bone, whether its limb reaches)


def trials_together(
    trials: Sequence[Trial],
    relations: Relations,
    reaches: Sequence[Reach],
    deform: Bools,
    parents: Integers,
) -> list[dict[Trial, Integers]]:
    """Returns [{trial: (k,) joints that it may turn, among the deform bones}] for poses in which no
    joint is turned by two of these trials. parents: (m,) the parent of each deform bone."""
    ties = [set(followers) for followers in relations.followers]
    for reach in reaches:
        if reach.anchor >= 0:
            ties[reach.anchor] |= {reach.control, reach.pole} - {-1}
    joints = np.flatnonzero(deform)
    known: dict[int, Integers] = {}
    poses: list[tuple[dict[Trial, Integers], Bools]] = []
    for trial in trials:
        bone = trial[0]
        if bone not in known:
            moved = np.zeros(len(deform) + 1, bool)  # the last: no parent
            moved[list(closure(ties, bone))] = True
            known[bone] = np.flatnonzero(moved[joints] | moved[parents[joints]])
        free = [each for each in poses if not each[1][known[bone]].any()]
        if not free:
            free = [({}, np.zeros(len(joints), bool))]
            poses += free
        pose, taken = free[0]
        pose[trial] = known[bone]
        taken[known[bone]] = True
    return [pose for pose, _taken in poses]
