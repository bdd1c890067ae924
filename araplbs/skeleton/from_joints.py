"""Builds a Skeleton from arrays: joints with their parents, and optional further data."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..base.arrays import Floats
from .skeleton import Skeleton, bone_in_circle


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
    links = np.asarray(parents)
    if links.shape != (m,) or links.dtype.kind not in "iu":
        raise ValueError(
            f"parents has shape {links.shape} and dtype {links.dtype}: expected ({m},), integers"
        )
    links = links.astype(np.int32)
    invalid = np.flatnonzero((links < -1) | (links >= m) | (links == np.arange(m)))
    if len(invalid):
        k = int(invalid[0])
        raise ValueError(f"parents[{k}] is {links[k]}: must be another of the {m} joints, or -1")
    bone = bone_in_circle(links)
    if bone is not None:
        raise ValueError(f"parents form a cycle from joint {bone}")
    ends = _ends(heads, links) if tails is None else _floats("tails", tails, m)
    bone_names = _names(names, m)
    flags = np.ones(m, bool) if deform is None else np.asarray(deform)
    if flags.shape != (m,) or flags.dtype != bool:
        raise ValueError(
            f"deform has shape {flags.shape} and dtype {flags.dtype}: expected ({m},), booleans"
        )
    if not flags.any():
        raise ValueError("deform is False for all joints")
    rolls = np.full((m, 3), np.nan) if roll_axes is None else _floats("roll_axes", roll_axes, m)
    across = _across(ends - heads)
    has_roll: Any = np.isfinite(rolls).all(axis=1)
    return skeleton_type(
        bone_names,
        heads,
        ends,
        links,
        np.where(has_roll[:, None], rolls, across),
        flags,
        np.full((m, 3, 2), np.nan),
        np.arange(m),
    )


def _floats(name: str, values: Any, count: int | None) -> Floats:
    try:
        array = np.array(values, np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} is not an array of numbers") from None
    if array.ndim != 2 or array.shape[1] != 3 or (count is not None and len(array) != count):
        rows = "n" if count is None else count
        raise ValueError(f"{name} has shape {array.shape}: expected ({rows}, 3)")
    if name != "roll_axes" and not np.isfinite(array).all():
        row = int(np.flatnonzero(~np.isfinite(array).all(axis=1))[0])
        raise ValueError(f"{name}[{row}] is {array[row]}: must be finite")
    return array


def _names(names: Iterable[object] | None, m: int) -> list[str]:
    texts = [f"joint {k}" for k in range(m)] if names is None else list(map(str, names))
    if len(texts) != m:
        raise ValueError(f"names has {len(texts)} entries, but there are {m} joints")
    if len(set(texts)) < m:
        duplicate = next(name for k, name in enumerate(texts) if name in texts[:k])
        raise ValueError(f"names contains {duplicate!r} twice")
    return texts


def _ends(heads: Floats, parents: Any) -> Floats:
    """Tails for display, (m, 3): at the nearest child, or continuing in the direction of the
    parent. The tails have no other effect, because bone directions are read from the joints."""
    sources = parents.clip(0)
    ways = heads - heads[sources]
    lengths = np.where(parents >= 0, np.linalg.norm(ways, axis=1), 0)
    is_apart = lengths > 0
    size = float(np.ptp(heads, axis=0).max()) or 1.0
    ends = heads + np.where(is_apart[:, None], ways / 2, (0, 0, 0.05 * size))
    children = np.flatnonzero(is_apart)
    children = children[np.lexsort((lengths[children], parents[children]))]
    _parents, begins = np.unique(parents[children], return_index=True)
    nearest = children[begins]
    ends[parents[nearest]] = heads[parents[nearest]] + ways[nearest]
    return ends


def _across(along: Floats) -> Floats:
    """Unit vectors across bones, (m, 3)."""
    axis = np.eye(3)[np.abs(along).argmin(axis=1)]
    vectors = np.cross(np.cross(along, axis), along)
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-300)
