"""Stores weights as sparse rows and converts them to the forms that other programs use."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.arrays import Floats
from ..model.sparse_weights import SparseWeights, dense_of, sparse_of


class Rows(SparseWeights):
    """Sparse weights of n vertices for m bones. Vertex i has the entries start[i]:start[i + 1].

    A named tuple (start, bones, weights), accepted by all functions: start (n + 1,), bones and
    weights (entries,), with the bones of each row in ascending order. shape: (n, m). The arrays are
    converted but not checked. Functions that take rows raise ValueError for invalid ones.

    >>> rows = Rows([0, 1, 3], [0, 0, 1], [1.0, 0.25, 0.75], bone_count=2)
    >>> rows
    Rows of 2 vertices for 2 bones: 3 weights, at most 2 per vertex
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
            f"Rows of {n:,} vertices for {m:,} bones: {len(self.weights):,} weights, at most "
            f"{most} per vertex"
        )

    @property
    def shape(self) -> tuple[int, int]:
        """The shape, (vertices, bones)."""
        return self.count, self.bone_count

    def toarray(self) -> Floats:
        """Return a dense array (n, m), which takes 8 bytes for each pair of vertex and bone."""
        return dense_of(self, self.bone_count)

    def to_scipy(self) -> Any:
        """Return the weights as a scipy.sparse.csr_matrix. Requires SciPy."""
        from scipy.sparse import csr_matrix  # type: ignore[import-untyped]

        return csr_matrix((self.weights, self.bones, self.start), shape=self.shape)

    def padded(self, width: int = 4) -> tuple[Any, Floats]:
        """Return (bones (n, width), weights (n, width)) with the largest weights first, as in game
        engines and glTF. Rows of vertices with fewer influences are padded with 0. Raises
        ValueError if a vertex has more than `width` influences."""
        most = int(np.diff(self.start).max(initial=0))
        if most > width:
            raise ValueError(f"width is {width}: a vertex has {most} influences")
        bones, weights = np.zeros((self.count, width), np.int32), np.zeros((self.count, width))
        slots = self.vertices, self.ranks()
        bones[slots], weights[slots] = self.bones, self.weights
        return bones, weights


def rows_of(name: str, value: Any, count: int, bones: int) -> SparseWeights:
    """Convert weights in any form: Weights, Rows or another tuple (start, bones, weights), a sparse
    matrix of SciPy, or an array (n, m). name: of the argument, for messages. Raises ValueError."""
    value = getattr(value, "rows", value) if isinstance(value, tuple) else value
    if isinstance(value, tuple):
        rows = SparseWeights(*value)
    elif hasattr(value, "tocsr"):
        _refuse_shape(name, value.shape, count, bones)
        matrix = value.tocsr(copy=True)
        matrix.sum_duplicates()  # also sorts the bones of each row
        start, own = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
        rows = SparseWeights(start, own, matrix.data.astype(float))
    else:
        dense = np.asarray(value, np.float64)
        _refuse_shape(name, dense.shape, count, bones)
        if not (dense >= 0).all() or np.isinf(dense).any():
            raise ValueError(f"{name} has weights that are negative or not finite")
        rows = sparse_of(dense)
    if rows.count != count:
        raise ValueError(f"{name} has {rows.count} rows, but there are {count} vertices")
    if len(rows.bones) and not 0 <= rows.bones.min() <= rows.bones.max() < bones:
        raise ValueError(f"{name} refers to bone {rows.bones.max()}, but there are {bones} bones")
    if not np.isfinite(rows.weights).all() or (rows.weights < 0).any():
        raise ValueError(f"{name} has weights that are negative or not finite")
    return rows


def _refuse_shape(name: str, shape: tuple[int, ...], count: int, bones: int) -> None:
    if shape != (count, bones):
        raise ValueError(f"{name} has shape {shape}: expected ({count}, {bones})")
