"""Computes the vertex group entries of a mesh that change for given weights, as arrays (vertices,
groups, weights) in the order that Blender needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..base.arrays import Bools, Floats, Integers, found_in
from .sparse_weights import SparseWeights, make_sparse_weights

Entries = tuple[Integers, Integers, Floats]
MANY = 4  # minimum number of vertices with one weight to write at once


def in_order(vertices: Integers, groups: Integers, weights: Floats) -> Entries:
    """Sorts entries by vertex, then by group."""
    keys = vertices.astype(np.int64) * (1 + int(groups.max(initial=0))) + groups
    order = np.argsort(keys, kind="stable")
    return vertices[order], groups[order], weights[order]


def bone_weights(
    names: Sequence[str], entries: Entries, bones: Mapping[str, int], count: int
) -> SparseWeights:
    """The SparseWeights of `count` vertices that these entries contain. names: the names of the
    groups; bones: the index of each bone by name. Other groups are left out, and so are groups that
    are no longer in the list, of which files can contain entries."""
    vertices, groups, weights = entries
    bone = np.array([*(bones.get(name, -1) for name in names), -1])
    owner = bone[np.minimum(groups, len(names))]
    known = owner >= 0
    return make_sparse_weights(count, vertices[known], owner[known], weights[known])


def are_plain(entries: Entries, count: int) -> bool:
    """Whether bmesh returns these entries unchanged. Only files contain entries with weights above
    1 or entries of groups that are no longer in the list."""
    _vertices, groups, weights = entries
    return bool((groups < count).all() and ((weights >= 0) & (weights <= 1)).all())


def merged(entries: Entries, changed: Entries, removed: Entries) -> Entries:
    """The entries in Blender's order after the changes and removals: within a vertex, current
    entries keep their order, and new ones follow, with groups ascending."""
    stride = 1 + max(int(groups.max(initial=0)) for _v, groups, _w in (entries, changed))
    there, new, gone = (v * stride + g for v, g, _w in (entries, changed, removed))
    kept = ~np.isin(there, gone)
    order = np.argsort(there[kept], kind="stable")
    ordered, weights = there[kept][order], entries[2][kept].astype(np.float32)
    at, known = found_in(new, ordered)
    weights[order[at[known]]] = changed[2][known]
    fresh = np.lexsort((new[~known], changed[0][~known]))
    rest = [each[~known][fresh] for each in changed]
    parts = zip((entries[0][kept], entries[1][kept], weights), rest, strict=True)
    columns: Any = [np.concatenate(part) for part in parts]
    order = np.argsort(columns[0], kind="stable")
    return columns[0][order], columns[1][order], columns[2][order]


def wanted_entries(rows: SparseWeights, bones: Bools, vertices: Bools, groups: Integers) -> Entries:
    """The entries to write: (vertices, groups, weights as stored by Blender)."""
    owner = rows.vertices
    take = bones[rows.bones] & vertices[owner] & (rows.weights > 0)
    return owner[take], groups[rows.bones[take]], rows.weights[take].astype(np.float32)


def present_entries(
    count: int, bones: Bools, vertices: Bools, groups: Integers, entries: Entries
) -> Entries:
    """The entries that may be written. count: the number of groups of the object."""
    written = np.zeros(count + 1, bool)
    written[groups[bones & (groups >= 0)]] = True
    owner, group, weight = entries
    take = vertices[owner] & written[np.minimum(group, count)]
    return owner[take], group[take], weight[take].astype(np.float32)


def difference(wanted: Entries, present: Entries) -> tuple[Entries, Entries]:
    """Returns (entries of `wanted` that are not in `present`, entries of `present` whose vertex and
    group are not in `wanted`)."""
    stride = 1 + max(int(groups.max(initial=-1)) for _v, groups, _w in (wanted, present))
    to, of = (v * stride + g for v, g, _w in (wanted, present))
    order = np.argsort(of)
    at, same = found_in(to, of[order])
    same[same] = present[2][order[at[same]]] == wanted[2][same]
    gone = ~np.isin(of, to)
    return _those(wanted, ~same), _those(present, gone)


def batches(
    vertices: Integers, groups: Integers, weights: Floats
) -> Iterator[tuple[int, float, list[int]]]:
    """Yields entries as (group, weight, [vertices]) in the order in which Blender adds them
    fastest. If many vertices have the same weight in a group, they come first and together. All
    other entries follow vertex by vertex."""
    order = np.lexsort((vertices, weights, groups))
    ordered = groups[order], weights[order]
    ends = np.flatnonzero((np.diff(ordered[0]) != 0) | (np.diff(ordered[1]) != 0)) + 1
    begins, ends = np.r_[0, ends][: len(order)], np.r_[ends, len(order)]
    many = ends - begins >= MANY
    for begin, end in zip(begins[many].tolist(), ends[many].tolist(), strict=True):
        first = order[begin]
        yield int(groups[first]), float(weights[first]), vertices[order[begin:end]].tolist()
    rest = order[np.repeat(~many, ends - begins)]
    rest = rest[np.lexsort((groups[rest], vertices[rest]))]
    some = groups[rest].tolist(), weights[rest].tolist(), vertices[rest, None].tolist()
    yield from zip(*some, strict=True)


def runs(keys: Integers, values: Integers) -> Iterator[tuple[int, Integers]]:
    """Yields (key, values with this key), with keys ascending."""
    if not len(keys):
        return
    order = np.argsort(keys, kind="stable")
    keys, values = keys[order], values[order]
    cuts = np.flatnonzero(np.diff(keys)) + 1
    yield from zip(keys[np.r_[0, cuts]].tolist(), np.split(values, cuts), strict=True)


def _those(entries: Entries, which: Bools) -> Entries:
    vertices, groups, weights = entries
    return vertices[which], groups[which], weights[which]
