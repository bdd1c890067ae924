"""Divides vertex group entries into chunks of vertices, which are written one at a time while
weights converge. The key of an entry is vertex * stride + group, where stride is the number of
groups. Keys ascend within a chunk."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..base.arrays import Array, Bools, Floats, Integers, found_in
from .group_entries import Entries, runs

VERTICES_A_STEP = 512  # chunks take a few ms
LEAST_CHANGE = 1 / 1024  # smaller changes are not visible before the end

Chunk = tuple[Integers, Floats]  # of keys, weights


def sorted_entries(stride: int, vertices: Integers, groups: Integers, weights: Floats) -> Chunk:
    keys = vertices.astype(np.int64) * stride + groups
    order = np.argsort(keys)
    return keys[order], weights[order].astype(np.float32)


def in_chunks(
    entries: Entries, count: int, stride: int, written: Bools, vertices: Bools
) -> list[Chunk]:
    """The entries of these vertices (count,) in the groups `written` (stride + 1,), in chunks."""
    known = entries[0] < count
    owners, groups, weights = entries[0][known], entries[1][known], entries[2][known]
    take = vertices[owners] & written[np.minimum(groups, stride)]
    keys, values = sorted_entries(stride, owners[take], groups[take], weights[take])
    firsts = np.arange(0, count, VERTICES_A_STEP)[1:] * stride
    cuts = np.searchsorted(keys, firsts)
    return list(zip(np.split(keys, cuts), np.split(values, cuts), strict=True))


def changes(
    present: Chunk, keys: Integers, weights: Floats, exact: bool
) -> tuple[Bools, Bools, Chunk]:
    """Returns (mask of desired entries to write, mask of current entries to fade, the resulting
    chunk). Before the end, small changes are not written, and fading entries become zero. exact:
    all changes are written to the last bit, and fading entries are removed."""
    present_keys, before = present
    at, known = found_in(keys, present_keys)
    old = np.where(known, before[at] if len(before) else 0, np.float32(-1))
    differs = old != weights if exact else np.abs(np.maximum(old, 0) - weights) > LEAST_CHANGE
    gone = ~found_in(present_keys, keys)[1]
    fade = gone & (exact | (before != 0))
    after = _noted(present_keys[gone], keys, np.where(differs, weights, old), exact)
    return differs, fade, after


def _noted(gone: Integers, keys: Integers, weights: Floats, exact: bool) -> Chunk:
    """The resulting chunk, without entries that were too small to be added (old weight -1) and
    therefore do not exist."""
    there = weights >= 0
    keys, weights = keys[there], weights[there]
    if not exact and len(gone):
        keys = np.concatenate([keys, gone])
        weights = np.concatenate([weights, np.zeros(len(gone), np.float32)])
        order = np.argsort(keys)
        keys, weights = keys[order], weights[order]
    return keys, weights.astype(np.float32)


def by_group(keys: Integers, stride: int) -> Iterator[tuple[int, Array]]:
    """The entries with these keys as (group, vertices), one item for each group."""
    vertices, groups = np.divmod(keys, stride)
    return runs(groups, vertices)
