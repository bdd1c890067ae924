"""Describes the constraints that an artist sets on the weights of one mesh, in addition to the
energy."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from ..base.arrays import Array, Floats, Integers

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
    """Edits that are stored with the mesh. See Solver.edit of the native module for the effect of
    the first four."""

    constraints: Pairs = field(default_factory=Pairs)  # values: desired weights
    influences: Pairs = field(default_factory=Pairs)  # values: True allowed, False excluded
    released: Pairs = field(default_factory=Pairs)  # values: unused
    smoothed: Pairs = field(default_factory=Pairs)  # values: strengths; bones: unused
    links: np.ndarray = field(default_factory=lambda: np.zeros((0, 2), np.int64))  # vertices
    rigid: list[np.ndarray] = field(default_factory=list)  # vertices of each rigid part

    @classmethod
    def of(cls, items: Iterable[tuple[str, int, Floats]]) -> Edits:
        """The Edits of items (kind in EDIT_KINDS, bone or -1 for none, values (n,) of the vertices
        as araplbs_addon/blender/data/edits.py defines them)."""
        edits = cls()
        for kind, bone, whole in items:
            vertices = np.flatnonzero(whole)
            values = whole[vertices].astype(np.float64)
            pairs = Pairs(vertices, np.full(len(vertices), bone), values)
            if kind == "WEIGHT":
                edits.constraints += replace(pairs, values=np.clip(values - 1, 0, 1))
            elif kind == "INFLUENCE":
                edits.influences += replace(pairs, values=values > 0)
            elif kind == "RELEASE":
                edits.released += pairs
            elif kind == "SMOOTH":
                edits.smoothed += replace(pairs, values=np.clip(values, 0, 1))
            elif kind == "RIGID":
                if len(vertices):
                    edits.rigid.append(vertices)
            elif len(vertices) == 2:  # a link without one of its ends is meaningless
                edits.links = np.vstack([edits.links, vertices])
        return edits

    def held_on_bone(self, bone: int, count: int) -> Edits:
        """The Edits, with each of the `count` vertices that have no desired weight held on a
        bone."""
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
