"""Describes the dependencies in a rig: bones that follow others through parents, constraints and
drivers."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..base.arrays import Bools, Integers
from .skeleton import Skeleton, hanging


@dataclass
class Chain:
    """A chain of bones that an IK constraint moves."""

    bones: list[int]  # from the tip to the root
    target: int
    pole: int  # or -1
    length: float


@dataclass
class Switch:
    """A custom property that switches between IK and FK."""

    owner: str  # path of its owner
    name: str
    sides: str  # equal for both sides of a character


@dataclass
class Relations:
    """Relations between the m bones of an armature, by index."""

    followers: list[set[int]]  # (m) direct followers of a bone
    carriers: list[set[int]]  # (m) carriers of a bone: its parent and constraint targets
    turned: list[set[int]]  # (m) bones that turn with a bone, at any position
    driven: Bools  # (m,): constrained beyond local limits of rotation, or driven
    free: Bools  # (m,): can be posed
    chains: list[Chain] = field(default_factory=list)
    switches: list[Switch] = field(default_factory=list)
    outside: list[tuple[str, str]] = field(default_factory=list)  # IK to objects: bone, constraint
    together: list[set[int]] = field(default_factory=list)  # a bone and the chain that it moves
    asked: set[int] = field(default_factory=set)  # moved by drivers outside the bones

    def reached(self, bone: int) -> set[int]:
        """Indices of all bones that follow this one, including itself."""
        return self._reached[bone]

    def carried(self, bone: int) -> set[int]:
        """Indices of all bones that this one carries."""
        return closure(self._carried, bone)

    def turns(self, bone: int) -> set[int]:
        """Indices of all bones that turn with this one."""
        return closure(self.turned, bone)

    def leaders(self) -> list[set[int]]:
        """The bones that each bone follows directly, (m)."""
        return turned_around(self.followers)

    @functools.cached_property
    def _reached(self) -> dict[int, set[int]]:
        """The bones reached from each bone. Children come first, because the closure of a parent
        contains the closures of its children."""
        known: dict[int, set[int]] = {}
        for bone in reversed(range(len(self.followers))):
            known[bone] = closure(self.followers, bone, known=known)
        return known

    @functools.cached_property
    def _carried(self) -> list[set[int]]:
        return turned_around(self.carriers)


def turned_around(sets: Sequence[set[int]]) -> list[set[int]]:
    """The inverse relation, as (m) sets of indices."""
    inverse: list[set[int]] = [set() for _ in sets]
    for bone, targets in enumerate(sets):
        for target in targets:
            inverse[target].add(bone)
    return inverse


def closure(
    followers: Sequence[set[int]], *bones: int, known: Mapping[int, set[int]] | None = None
) -> set[int]:
    """Indices of these bones and all their direct and indirect followers. known: the closures of
    some bones."""
    members, waiting = set(bones), list(bones)
    while waiting:
        bone = waiting.pop()
        if known and bone in known:
            members |= known[bone]
            continue
        added = followers[bone] - members
        members |= added
        waiting += added
    return members


def drives_itself(relations: Relations, skeleton: Skeleton) -> bool:
    """Whether constraints or drivers move a deform bone or one of its ancestors."""
    return bool(hanging(skeleton.parents)[np.ix_(skeleton.deform, relations.driven)].any())


def further_controls(
    relations: Relations, parents: Integers, chosen: Bools, still: Sequence[int]
) -> list[int]:
    """Free bones, outside of `chosen` (m,), that may turn the joints `still` relative to their
    parents (m,). For each joint, the nearest such bone is returned, preferably the joint's own
    bone."""
    leaders = relations.leaders()

    @functools.cache
    def turning(bone: int, above: int) -> bool:
        free = relations.free[bone] and not chosen[bone]
        return bool(free and above not in relations.reached(bone))

    controls: set[int] = set()
    for joint in still:
        row, visited = [joint], {joint}
        while row:
            nearest = [b for b in row if turning(b, parents[joint])]
            controls.update(nearest[:1])
            row = [] if nearest else sorted(set().union(*(leaders[b] for b in row)) - visited)
            visited.update(row)
    return sorted(controls)
