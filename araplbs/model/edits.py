"""Describes the constraints that an artist sets on the weights of one mesh, in addition to the
energy."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from ..base.arrays import Array, Integers

EDIT_KINDS = ("WEIGHT", "INFLUENCE", "RELEASE", "LINK", "SMOOTH", "RIGID")


def _none() -> Integers:
    return np.zeros(0, np.int64)


@dataclass
class Pairs:
    """A set of k pairs (vertex of the mesh, bone), each with a value."""

    vertices: np.ndarray = field(default_factory=_none)  # (k,)
    bones: np.ndarray = field(default_factory=_none)  # (k,)
    values: np.ndarray = field(default_factory=_none)  # (k,)

    def __add__(self, other: Pairs) -> Pairs:
        return Pairs(
            np.concatenate([self.vertices, other.vertices]),
            np.concatenate([self.bones, other.bones]),
            np.concatenate([self.values, other.values]),
        )

    def of(self, which: Array) -> Pairs:
        """The Pairs selected by a mask (k,)."""
        return Pairs(self.vertices[which], self.bones[which], self.values[which])


def _keys(pairs: Pairs) -> Integers:
    return pairs.vertices.astype(np.int64) << 32 | pairs.bones


@dataclass(kw_only=True)
class Edits:
    """Edits that are stored with the mesh; see Solver.edit of the native module for the effect of
    the first four."""

    constraints: Pairs = field(default_factory=Pairs)  # values: desired weights
    influences: Pairs = field(default_factory=Pairs)  # values: True allowed, False excluded
    released: Pairs = field(default_factory=Pairs)  # values: unused
    smoothed: Pairs = field(default_factory=Pairs)  # values: strengths; bones: unused
    links: np.ndarray = field(default_factory=lambda: np.zeros((0, 2), np.int64))  # vertices
    rigid: list[np.ndarray] = field(default_factory=list)  # vertices of each rigid part

    def held_on_bone(self, bone: int, count: int) -> Edits:
        """The Edits, in which every one of the `count` vertices without a desired weight is held on
        a bone."""
        free = np.setdiff1d(np.arange(count), self.constraints.vertices)
        held = Pairs(free, np.full(len(free), bone), np.ones(len(free)))
        return replace(self, constraints=self.constraints + held)

    def not_wanted(self, pairs: Pairs) -> Pairs:
        """The given Pairs, without pairs that have a positive desired weight."""
        wanted = self.constraints.of(self.constraints.values > 0) + self.influences.of(
            self.influences.values.astype(bool)
        )
        return pairs.of(~np.isin(_keys(pairs), _keys(wanted)))

    @property
    def any(self) -> bool:
        pairs = (self.constraints, self.influences, self.released, self.smoothed)
        return any(len(p.vertices) for p in pairs) or len(self.links) > 0 or bool(self.rigid)
