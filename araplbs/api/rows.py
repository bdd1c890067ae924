"""Weights as sparse rows, which a program can use in any form."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.arrays import Floats
from ..model.sparse_weights import SparseWeights, dense_of


class Rows(SparseWeights):
    """Sparse weights of n vertices for m bones: those of vertex i are at start[i]:start[i + 1].

    A named tuple (start, bones, weights), which all functions accept: start (n + 1,), bones and
    weights (entries,), the bones of a row ascending. shape: (n, m). The arrays are converted, not
    checked: functions that take rows raise ValueError for wrong ones.

    >>> rows = Rows([0, 1, 3], [0, 0, 1], [1.0, 0.25, 0.75], bone_count=2)
    >>> rows
    Rows of 2 vertices for 2 bones: 3 weights, at most 2 of a vertex
    >>> rows.toarray()
    array([[1.  , 0.  ],
           [0.25, 0.75]])
    """

    bone_count: int

    def __new__(cls, start: Any, bones: Any, weights: Any, bone_count: int) -> Rows:
        self = super().__new__(
            cls,
            np.asarray(start, np.int64),
            np.asarray(bones, np.int32),
            np.asarray(weights, float),
        )
        self.bone_count = int(bone_count)
        return self

    def __getnewargs__(self) -> tuple[Any, ...]:
        return (*self, self.bone_count)

    def __repr__(self) -> str:
        n, m = self.shape
        most = int(np.diff(self.start).max(initial=0))
        return (
            f"Rows of {n:,} vertices for {m:,} bones: {len(self.weights):,} weights, "
            f"at most {most} of a vertex"
        )

    @property
    def shape(self) -> tuple[int, int]:
        """(vertices, bones)"""
        return self.count, self.bone_count

    def toarray(self) -> Floats:
        """(n, m) a dense array: 8 bytes for each vertex and bone."""
        return dense_of(self, self.bone_count)

    def to_scipy(self) -> Any:
        """A scipy.sparse.csr_matrix of these weights; needs SciPy."""
        from scipy.sparse import csr_matrix  # type: ignore[import-untyped]

        return csr_matrix((self.weights, self.bones, self.start), shape=self.shape)

    def padded(self, width: int = 4) -> tuple[Any, Floats]:
        """(bones (n, width), weights (n, width)), the largest first, as game engines and glTF use
        them; 0 if a vertex has fewer. Raises ValueError if a vertex has more."""
        most = int(np.diff(self.start).max(initial=0))
        if most > width:
            raise ValueError(f"width is {width}: a vertex has {most} influences")
        vertices = self.vertices
        order = np.lexsort((-self.weights, vertices))
        slot = np.arange(len(order)) - self.start[vertices[order]]
        bones, weights = np.zeros((self.count, width), np.int32), np.zeros((self.count, width))
        bones[vertices[order], slot] = self.bones[order]
        weights[vertices[order], slot] = self.weights[order]
        return bones, weights
