"""Defines the bones of an armature in the rest pose."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..base.arrays import Bools, Floats, Integers
from ..body.chains import Tree
from ..body.limbs import Limb
from ..body.twists import limbs_of, twist_shares
from ..model.sparse_weights import SparseWeights
from .poses import BENDY, RIGID, BoneKind
from .sides import opposite_bones


@dataclass
class Skeleton:
    """The m bones of an armature at rest, in armature space. The index of a bone is its position in
    `names`.

    Skeleton.from_joints() builds one from joints (m, 3) and parents (m,), and raises ValueError for
    inconsistent arrays. The class itself accepts all fields unchecked.
    """

    names: list[str]
    heads: np.ndarray  # (m, 3)
    tails: np.ndarray  # (m, 3)
    parents: np.ndarray  # (m,) -1 for roots
    roll_axes: np.ndarray  # (m, 3) local Z
    deform: np.ndarray  # (m,) bool
    limits: np.ndarray  # (m, 3, 2) radians about local X, Y, Z, NaN for none
    opposite: np.ndarray  # (m,) the other side for Mirror modifiers, or the bone itself
    kinds: list[BoneKind] = None  # (m,) RIGID, or BENDY if it deforms; None: no bone is flexible
    segments: np.ndarray = None  # (m,) of bendy bones
    stretch: np.ndarray = None  # (m,) bool: it stretches, by itself or with its parent
    own_stretch: np.ndarray = None  # (m,) bool: by itself
    volume: np.ndarray = None  # (m,) bool: its volume is preserved when it stretches
    joint_axes: np.ndarray = None  # (j, 3, 3) local axes of all joints at rest, as columns
    taken_in: np.ndarray = None  # (m,) bool: deforms, regardless of the evidence
    control: np.ndarray = None  # (m,) why it is excluded, an index in REASONS; then deform is off
    evidence: dict[int, str] = field(default_factory=dict)  # further reasons for this, in words
    # The bones that turn a bone about its axis: {bone: {source: share of its twist, NaN: unknown}}
    turners: dict[int, dict[int, float]] = field(default_factory=dict)
    ways: np.ndarray = None  # (m,) bool: its parent reaches to it; None: bones reach to their tails
    directions: str = "TAILS"  # the source of tails and ways; see directions.py
    drawn_tails: np.ndarray = None  # (m, 3) as in the armature

    def __post_init__(self) -> None:
        if self.taken_in is None:
            self.taken_in = np.zeros(len(self.names), bool)
        if self.drawn_tails is None:
            self.drawn_tails = self.tails
        if self.control is None:
            self.control = np.zeros(len(self.names), np.int32)
        if self.kinds is None:
            m = len(self.names)
            self.kinds = [RIGID] * m
            self.segments = np.ones(m, np.int32)
            self.stretch, self.own_stretch, self.volume = np.zeros((3, m), bool)
        # A bone that does not deform has no joints for the solver, so none are read.
        self.kinds = [k if d else RIGID for k, d in zip(self.kinds, self.deform, strict=True)]

    @classmethod
    def from_joints(cls, joints: Any, parents: Any, **known: Any) -> Skeleton:
        """Build a Skeleton from joints (m, 3) and parents (m,), -1 for none. known: tails (m, 3),
        names, deform (m,) of bool, roll_axes (m, 3). Raises ValueError."""
        from .from_joints import skeleton_from_joints

        return skeleton_from_joints(cls, joints, parents, **known)

    @property
    def as_drawn(self) -> Skeleton:
        """The skeleton with the tails drawn in the armature, regardless of the source of the
        bones."""
        return replace(self, tails=self.drawn_tails, ways=None, directions="TAILS")

    @property
    def other_side(self) -> Integers:
        """The bone on the other side, (m,), as in `opposite` but with every naming convention for
        sides."""
        own, named = np.arange(len(self.names)), opposite_bones(tuple(self.names))
        free = (self.opposite == own) & (self.opposite[named] == named)
        return np.where(free, named, self.opposite)

    @property
    def left_out(self) -> Bools:
        """Returns (m,) bool: control bones, which Blender treats as deform bones."""
        return self.control > 0

    @property
    def solver_parents(self) -> Integers:
        """Parents (m,) that skip excluded bones, except the first bone of a tree, which holds the
        tree together. An excluded bone has no parent."""
        parents = self.parents.copy()
        passable = self.left_out & (self.parents >= 0)
        while (passed := (parents >= 0) & passable[parents]).any():
            parents[passed] = self.parents[parents[passed]]
        parents[self.left_out] = -1
        return parents

    @property
    def flexible(self) -> bool:
        """Whether some bones do more than rotate."""
        return any(kind != RIGID for kind in self.kinds) or bool(self.stretch.any())

    @property
    def joint_count(self) -> int:
        """The number of joints of all bendy bones."""
        bendy = np.array([kind == BENDY for kind in self.kinds], bool)
        return int((self.segments[bendy] + 1).sum())

    @property
    def way_arguments(self) -> dict[str, Any]:
        """Engine input for bones that reach to all their children."""
        return {} if self.ways is None else {"bone_ways": self.ways}

    @cached_property
    def tree(self) -> Tree:
        """The deform bones, each below its nearest deform ancestor."""
        return Tree(self.heads, self.tails, self.parents, self.deform)

    @cached_property
    def deform_ancestors(self) -> Integers:
        """The nearest deform bone above each bone, (m,); -1 for none."""
        up = self.parents
        while (passed := (up >= 0) & ~self.deform[up]).any():
            up = np.where(passed, self.parents[up], up)
        return up

    @cached_property
    def limbs(self) -> list[Limb]:
        """The limbs of deform bones, pair by pair. See body/twists.py."""
        which = self.deform & ~self.left_out
        return limbs_of(self.heads, self.tails, self.parents, which)

    @cached_property
    def twist_shares(self) -> dict[int, float]:
        """See body/twists.py."""
        return twist_shares(self.limbs)

    def twists(self, options: Any) -> Floats:
        """The largest twist of each bone in random poses, (m,). options: with `twist` and
        `limb_twist`."""
        twists = np.full(len(self.names), float(options.twist))
        if options.limb_twist > options.twist:
            for bone, share in self.twist_shares.items():
                twists[bone] = max(share * options.limb_twist, options.twist)
        return twists

    def twist_arguments(self, options: Any) -> dict[str, Any]:
        """Engine input for joints that twist farther than others."""
        twists = self.twists(options)
        ranges = np.full((len(twists), 4, 2), np.nan)
        own = twists > options.twist
        ranges[own, 1] = twists[own, None] * [-1, 1]
        return {"bone_ranges": ranges} if own.any() else {}

    @property
    def kind_arguments(self) -> dict[str, Any]:
        """Solver input for bones that are not rigid."""
        if not self.flexible:
            return {}
        return {
            "bone_kinds": self.kinds,
            "bone_segments": self.segments,
            "bone_stretch": self.stretch,
        }


def of_weighted(skeleton: Skeleton, rows: SparseWeights) -> Skeleton:
    """The Skeleton in which only bones with weights, and the bones that carry them, deform; the
    whole Skeleton if there are no weights."""
    weighted = np.unique(rows.bones[rows.weights > 0])
    moves = hanging(skeleton.parents)[weighted].any(axis=0) & skeleton.deform
    return replace(skeleton, deform=moves) if moves.any() else skeleton


def bone_in_circle(parents: Integers) -> int | None:
    """A bone that is its own ancestor or below such a bone, None without one."""
    ancestors, above = np.arange(len(parents)), parents
    for _step in range(len(parents).bit_length()):  # doubles the distance to the ancestor
        ancestors = np.where(ancestors >= 0, above[ancestors], -1)
        above = np.where(above >= 0, above[above], -1)
    in_circle = np.flatnonzero(ancestors >= 0)
    return int(in_circle[0]) if len(in_circle) else None


def hanging(parents: Integers) -> Bools:
    """Returns (m, m) bool: whether the first bone is the second one or a descendant of it."""
    bones = np.arange(len(parents))
    is_below = np.zeros((len(parents),) * 2, bool)
    above: Integers = bones
    while len(bones) and not is_below[bones, above].all():
        is_below[bones, above] = True
        above = parents[above]
        bones, above = bones[above >= 0], above[above >= 0]
    return is_below
