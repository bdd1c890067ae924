"""split_bones() replaces stretchable-twistable bones and spines by rigid bones, and
spine_weights() computes the weights of a chain of rigid bones by means of a spine."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.arrays import Floats
from ..base.engine import engine
from ..features.bendy.handles import split_weights
from ..features.bendy.spine import along_chain, as_one_spine
from ..model.sparse_weights import SparseWeights, make_sparse_weights
from ..skeleton.skeleton import Skeleton
from .rows import Rows, rows_of

MOST_BONES = 1 << 15  # that the engine deforms with (deform.c)


def split_bones(
    vertices: Any,
    heads: Any,
    tails: Any,
    parents: Any,
    weights: Any,
    counts: Any,
    *,
    parameters: Any = None,
) -> tuple[Floats, Floats, Any, Rows, Any]:
    """Replace bones by chains of rigid bones of equal length, for programs that support only rigid
    bones. The weights of an STB or spine then become the banded weights of its chain: in the middle
    of a rigid bone, all weight is that bone's, and between two middles, the weights change
    linearly.

    vertices (n, 3); heads, tails (m, 3), parents (m,) of the bones, -1 for roots.
    weights: those of the Solver, as Weights, Rows, an array (n, m) or a sparse matrix of SciPy.
    counts (m,): number of rigid bones for each bone, 1 for those that stay.
    parameters (n, m): positions along the bones from 0 to 1, as for the Solver. NaN, and the
        default: the position of the vertex along the bone.

    Returns (heads, tails, parents, weights, source), with weights as Rows. The bones of a chain
    follow each other, in the order of the original bones. source (k,): the original bone of each. A
    child is attached to the bone of the chain at its head. If every bone moves like the middle of
    its piece of the spine, the difference from the spine falls with the square of the count. Raises
    ValueError for invalid arrays.
    Source: Thiery & Eisemann, ARAPLBS, 2018, section 1.2.

    >>> found = split_bones([[0, 0, 1]], [[0, 0, 0]], [[0, 0, 2]], [-1], [[1.0]], [2])
    >>> found[1].tolist(), found[3].toarray().tolist()
    ([[0.0, 0.0, 1.0], [0.0, 0.0, 2.0]], [[0.5, 0.5]])
    """
    skeleton = Skeleton.from_joints(heads, parents, tails=tails)
    start, along = skeleton.heads, skeleton.tails - skeleton.heads
    m, points, number = len(start), _points(vertices), np.asarray(counts)
    if number.shape != (m,) or number.dtype.kind not in "iu":
        raise ValueError(
            f"counts has shape {number.shape} and dtype {number.dtype}: expected ({m},), integers"
        )
    if (number < 1).any():
        raise ValueError(f"counts[{number.argmin()}] is {number.min()}: must be at least 1")
    total = sum(number.tolist())
    if total > MOST_BONES:
        raise ValueError(f"counts sums to {total}: at most {MOST_BONES} bones can be made")
    number = number.astype(np.int64)
    rows = rows_of("weights", weights, len(points), m)
    owner, bone = rows.vertices, rows.bones

    unit = max(np.abs(each).max(initial=0) for each in (points, start, along)) or 1.0

    def position(of: Floats, bones: Any) -> Floats:
        line = along[bones] / unit  # whose squares do not overflow
        squares = np.maximum((line * line).sum(axis=1), np.finfo(float).tiny)
        return np.clip(((of - start[bones]) / unit * line).sum(axis=1) / squares, 0, 1)

    u = position(points[owner], bone)
    if parameters is not None:
        given = np.asarray(parameters, float)
        if given.shape != (len(points), m):
            raise ValueError(f"parameters has shape {given.shape}: expected ({len(points)}, {m})")
        if (given < 0).any() or (given > 1).any():
            raise ValueError("parameters has values outside 0 to 1")
        u = np.where(np.isnan(given[owner, bone]), u, given[owner, bone])

    source = np.repeat(np.arange(m), number)
    first = np.cumsum(number) - number
    piece = np.arange(len(source)) - first[source]
    joints = start[source] + along[source] * (piece / number[source])[:, None]
    ends = np.append(joints[1:], joints[:1], axis=0)
    last = piece + 1 == number[source]
    ends[last] = skeleton.tails
    above = skeleton.parents
    attached = np.floor(position(start, above) * number[above]).astype(int)
    attached = first[above] + np.minimum(attached, number[above] - 1)
    chain = np.arange(len(source)) - 1
    chain[first] = np.where(above < 0, -1, attached)

    which, inner, values = split_weights(u, rows.weights, number[bone], middles=True)
    owner, bone = owner[which], first[bone[which]] + inner
    split = Rows(*make_sparse_weights(len(points), owner, bone, values), bone_count=len(source))
    return joints, ends, chain.astype(np.int32), split, source


def spine_weights(
    vertices: Any,
    triangles: Any,
    heads: Any,
    tails: Any,
    parents: Any,
    chain: Any,
    *,
    deform: Any = None,
    **settings: Any,
) -> Rows:
    """Compute weights with a chain of small bones, such as vertebrae, as one spine. Small bones
    that turn far against each other lose most of their influence. A spine does not, and its weights
    are then divided among the bones of the chain, in bands as by split_bones.

    vertices (n, 3), triangles (f, 3); heads, tails (m, 3), parents (m,) of the bones, -1 for roots.
    chain: two or more bones, each the parent of the next one. Other children of these bones, such
        as arms, follow the spine.
    deform (m,) of bool: whether each bone deforms; those of the chain must.
    settings: the settings of Solver, and its arguments edges, threads and progress.

    Returns Rows of the m bones. The bands are measured along the chain, which may be bent at rest.
    A vertex near the spine may have one influence more than max_influences. Raises ValueError for
    invalid arrays, TypeError for unknown settings, and the exceptions of Solver.
    Source: Thiery & Eisemann, ARAPLBS, 2018, section 7 and Figure 14.

    >>> square = [[0, 0, 0], [1, 0, 0], [0, 0, 2], [1, 0, 2]], [[0, 1, 2], [1, 3, 2]]
    >>> bones = [[0, 0, 0], [0, 0, 1]], [[0, 0, 1], [0, 0, 2]], [-1, 0]
    >>> spine_weights(*square, *bones, [0, 1]).toarray().tolist()
    [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]
    """
    skeleton = Skeleton.from_joints(heads, parents, tails=tails, deform=deform)
    start, end, above, m = skeleton.heads, skeleton.tails, skeleton.parents, len(skeleton.names)
    members = np.asarray(chain)
    if members.ndim != 1 or members.dtype.kind not in "iu" or len(members) < 2:
        raise ValueError(f"chain is {chain!r}: must be a list of two or more bones")
    if members.min() < 0 or members.max() >= m:
        raise ValueError(f"chain is {chain!r}, but there are {m} bones")
    apart = np.flatnonzero(above[members[1:]] != members[:-1])
    if len(apart):
        lower, upper = members[apart[0] + 1], members[apart[0]]
        raise ValueError(f"chain is {chain!r}, but the parent of bone {lower} is not bone {upper}")
    if not skeleton.deform[members].all():
        still = members[~skeleton.deform[members]][0]
        raise ValueError(f"chain is {chain!r}, but bone {still} does not deform")
    unknown = set(settings) - set(engine.SETTINGS["Solver"]) - {"edges", "threads", "progress"}
    if unknown:
        raise TypeError(f"spine_weights() does not take {min(unknown)}")

    points = _points(vertices)
    joints = np.append(start[members], end[members[-1:]], axis=0)
    u, middles = along_chain(points, joints)
    kept = np.setdiff1d(np.arange(m), members[1:])
    place = np.full(m, -1)
    place[kept] = np.arange(len(kept))
    spine = place[members] = place[members[0]]
    end = np.where(np.arange(m)[:, None] == members[0], end[members[-1]], end)
    parameters = np.full((len(points), len(kept)), np.nan)
    parameters[:, spine] = u
    solver = engine.Solver(
        points,
        triangles,
        start[kept],
        end[kept],
        np.where(above[kept] < 0, -1, place[above[kept]]),
        bone_deform=skeleton.deform[kept],
        bone_kinds=["spine" if bone == members[0] else "rigid" for bone in kept],
        parameters=parameters,
        **settings,
    )
    solver.solve()
    begin, bones, weights = solver.sparse_weights
    rows = SparseWeights(begin, kept[bones], weights)
    return Rows(*as_one_spine(rows, members, u, middles), bone_count=m)


def _points(vertices: Any) -> Floats:
    points: Floats = np.asarray(vertices, float)
    if points.ndim != 2 or points.shape[1] != 3 or not np.isfinite(points).all():
        raise ValueError(f"vertices has shape {points.shape}: expected (n, 3), finite")
    return points
