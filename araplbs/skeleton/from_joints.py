"""Builds a Skeleton from arrays: joints with their parents, and optional further data."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.arrays import Floats
from .skeleton import bone_in_circle

if TYPE_CHECKING:
    from .skeleton import Skeleton


def skeleton_from_joints(
    skeleton_type: type[Skeleton],
    joints: Any,
    parents: Any,
    *,
    tails: Any = None,
    names: Iterable[object] | None = None,
    deform: Any = None,
    roll_axes: Any = None,
) -> Skeleton:
    """See Skeleton.from_joints. Raises ValueError for inconsistent arrays."""
    heads = _floats("joints", joints, None)
    m = len(heads)
    if not m:
        raise ValueError("joints is empty: at least one joint is needed")
    above = np.asarray(parents)
    if above.shape != (m,) or above.dtype.kind not in "iu":
        raise ValueError(
            f"parents has shape {above.shape} and dtype {above.dtype}: expected ({m},), integers"
        )
    above = above.astype(np.int32)
    wrong = np.flatnonzero((above < -1) | (above >= m) | (above == np.arange(m)))
    if len(wrong):
        k = int(wrong[0])
        raise ValueError(f"parents[{k}] is {above[k]}: must be another of the {m} joints, or -1")
    bone = bone_in_circle(above)
    if bone is not None:
        raise ValueError(f"parents form a cycle from joint {bone}")
    ends = _ends(heads, above) if tails is None else _floats("tails", tails, m)
    own = _names(names, m)
    moves = np.ones(m, bool) if deform is None else np.asarray(deform)
    if moves.shape != (m,) or moves.dtype != bool:
        raise ValueError(
            f"deform has shape {moves.shape} and dtype {moves.dtype}: expected ({m},), booleans"
        )
    if not moves.any():
        raise ValueError("deform is False for all joints")
    rolls = np.full((m, 3), np.nan) if roll_axes is None else _floats("roll_axes", roll_axes, m)
    across = _across(ends - heads)
    known: Any = np.isfinite(rolls).all(axis=1)
    return skeleton_type(
        own,
        heads,
        ends,
        above,
        np.where(known[:, None], rolls, across),
        moves,
        np.full((m, 3, 2), np.nan),
        np.arange(m),
    )


def _floats(name: str, values: Any, count: int | None) -> Floats:
    try:
        found = np.array(values, np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} is not an array of numbers") from None
    if found.ndim != 2 or found.shape[1] != 3 or (count is not None and len(found) != count):
        wanted = "n" if count is None else count
        raise ValueError(f"{name} has shape {found.shape}: expected ({wanted}, 3)")
    if name != "roll_axes" and not np.isfinite(found).all():
        row = int(np.flatnonzero(~np.isfinite(found).all(axis=1))[0])
        raise ValueError(f"{name}[{row}] is {found[row]}: must be finite")
    return found


def _names(names: Iterable[object] | None, m: int) -> list[str]:
    own = [f"joint {k}" for k in range(m)] if names is None else list(map(str, names))
    if len(own) != m:
        raise ValueError(f"names has {len(own)} entries, but there are {m} joints")
    if len(set(own)) < m:
        twice = next(name for k, name in enumerate(own) if name in own[:k])
        raise ValueError(f"names contains {twice!r} twice")
    return own


def _ends(heads: Floats, parents: Any) -> Floats:
    """Tails for display, (m, 3): at the nearest child, or continuing in the direction of the
    parent. The tails have no other effect, because bone directions are read from the joints."""
    up = parents.clip(0)
    ways = heads - heads[up]
    lengths = np.where(parents >= 0, np.linalg.norm(ways, axis=1), 0)
    apart = lengths > 0
    size = float(np.ptp(heads, axis=0).max()) or 1.0
    ends = heads + np.where(apart[:, None], ways / 2, (0, 0, 0.05 * size))
    children = np.flatnonzero(apart)
    children = children[np.lexsort((lengths[children], parents[children]))]
    _parents, first = np.unique(parents[children], return_index=True)
    nearest = children[first]
    ends[parents[nearest]] = heads[parents[nearest]] + ways[nearest]
    return ends


def _across(along: Floats) -> Floats:
    """Unit vectors across bones, (m, 3)."""
    axis = np.eye(3)[np.abs(along).argmin(axis=1)]
    found = np.cross(np.cross(along, axis), along)
    return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-300)
