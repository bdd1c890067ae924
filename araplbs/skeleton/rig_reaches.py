"""Finds the limbs of a rig whose ends are moved by controls, as when an animator drags a hand or a
foot, and plans trials of controls. Each trial tests as many controls as possible, provided that
they do not affect the same bones."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from ..base.arrays import Bools, Floats, Integers
from .rig_relations import Relations, closure
from .skeleton import Skeleton


@dataclass
class Reach:
    """A limb whose end is moved by a control."""

    control: int
    pole: int  # or -1
    anchor: int  # the limb's parent, which limb and control follow, or -1
    root: Floats  # (3,)
    end: Floats  # (3,)
    length: float  # 0: a single bone, which only aims at the end


def find_reaches(
    relations: Relations, skeleton: Skeleton, controls: Bools, movable: Bools, whole: Bools
) -> list[Reach]:
    """Returns [Reach] for the IK chains. controls (m,) bool: the posed bones; movable (m,) bool:
    the posed bones that can be moved; whole (m,) bool: the bones that carry the whole rig."""
    reaches: dict[int, Reach] = {}
    movable = movable & ~whole
    in_chains = {b for chain in relations.chains for b in chain.bones}
    for chain in relations.chains:
        root = chain.bones[-1]
        control = _control_of(chain.target, relations, movable, in_chains)
        if control < 0 or root in relations.turns(control):
            continue
        reached = relations.reached(control)
        anchor = skeleton.parents[root]
        while anchor >= 0 and anchor in reached:
            anchor = skeleton.parents[anchor]
        pole = -1
        if chain.pole >= 0:
            pole = _control_of(chain.pole, relations, movable, in_chains)
        if pole in reached or (pole >= 0 and anchor in relations.reached(pole)):
            pole = -1
        start, end = skeleton.heads[root], skeleton.heads[chain.target]
        if np.linalg.norm(end - start) < 1e-3 * chain.length:
            continue
        length = chain.length if len(chain.bones) > 1 else 0.0
        former = reaches.get(control)
        if former is None or former.pole < 0:
            reaches[control] = Reach(control, pole, anchor, start, end, length)
    moving = (controls | relations.driven) & ~whole
    return _without_circles(list(reaches.values()), relations, moving)


def _control_of(bone: int, relations: Relations, movable: Bools, in_chains: Collection[int]) -> int:
    """The nearest control that carries the bone, if no bone moved by IK lies between the two; -1
    for none."""
    visited, row = {bone}, [bone]
    while row:
        for b in row:
            if movable[b]:
                return b
        carriers = [relations.carriers[b] for b in row if b not in in_chains]
        row = sorted(set[int]().union(*carriers) - visited)
        visited.update(row)
    return -1


def _without_circles(reaches: list[Reach], relations: Relations, moving: Bools) -> list[Reach]:
    """The reaches without some of their anchors. An anchor is removed if one of the bones `moving`
    (m,) already carries the control, or if the anchor would make a bone follow itself."""
    ties = [set(followers) for followers in relations.followers]
    for r in reaches:
        tied = {r.control, r.pole} - {-1}
        carriers = closure(relations.carriers, r.control) - {r.control}
        carried = any(moving[b] for b in carriers)
        if r.anchor < 0 or carried or any(r.anchor in closure(ties, b) for b in tied):
            r.anchor = -1
        else:
            ties[r.anchor] |= tied
    return reaches


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
    joints_of_bones: dict[int, Integers] = {}
    poses: list[tuple[dict[Trial, Integers], Bools]] = []
    for trial in trials:
        bone = trial[0]
        if bone not in joints_of_bones:
            moved = np.zeros(len(deform) + 1, bool)  # the last: no parent
            moved[list(closure(ties, bone))] = True
            joints_of_bones[bone] = np.flatnonzero(moved[joints] | moved[parents[joints]])
        fitting = [each for each in poses if not each[1][joints_of_bones[bone]].any()]
        if not fitting:
            fitting = [({}, np.zeros(len(joints), bool))]
            poses += fitting
        pose, is_used = fitting[0]
        pose[trial] = joints_of_bones[bone]
        is_used[joints_of_bones[bone]] = True
    return [pose for pose, _taken in poses]
