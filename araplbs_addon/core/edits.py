"""What an artist asks of the weights of one mesh, beside what the energy says."""

from dataclasses import dataclass, field

import numpy as np


def _none():
    return np.zeros(0, np.int64)


@dataclass
class Pairs:
    """k pairs (vertex of the mesh, bone), each with a value."""

    vertices: np.ndarray = field(default_factory=_none)  # (k,)
    bones: np.ndarray = field(default_factory=_none)  # (k,)
    values: np.ndarray = field(default_factory=_none)  # (k,)

    def __add__(self, other):
        return Pairs(
            np.concatenate([self.vertices, other.vertices]),
            np.concatenate([self.bones, other.bones]),
            np.concatenate([self.values, other.values]),
        )

    def of(self, which):
        """Those of a mask (k,)."""
        return Pairs(self.vertices[which], self.bones[which], self.values[which])


@dataclass(kw_only=True)
class Edits:
    """Kept with the mesh; see Solver.edit of the native module for what the first four do."""

    constraints: Pairs = field(default_factory=Pairs)  # values: wanted weights
    influences: Pairs = field(default_factory=Pairs)  # values: True allowed, False forbidden
    released: Pairs = field(default_factory=Pairs)  # values: unused
    smoothed: Pairs = field(default_factory=Pairs)  # values: strengths; bones: unused
    links: np.ndarray = field(default_factory=lambda: np.zeros((0, 2), np.int64))  # vertices
    rigid: list[np.ndarray] = field(default_factory=list)  # vertices of each rigid part

    @property
    def any(self):
        pairs = (self.constraints, self.influences, self.released, self.smoothed)
        return any(len(p.vertices) for p in pairs) or len(self.links) > 0 or bool(self.rigid)
