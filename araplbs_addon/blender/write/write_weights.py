"""Writes weights into vertex groups: only the entries that change are touched."""

import numpy as np

from ..read.read_mesh import group_entries
from .write_at_once import write_at_once

AT_ONCE = 3000  # entries that change: so many are written with all others
MANY = 4  # vertices of one weight: so many are written at once


def write_weights(ob, rows, names, with_group, bones, vertices, entries=None):
    """Makes the weights of an object those of `rows`; returns what was done, as a dictionary.

    names: of all bones. with_group (m,) bool: bones that get a group where they have none.
    bones (m,) bool: those whose groups are written. vertices (n,) bool: those that are written.
    entries: group_entries() of the object, if they are known. A bone without a group has no weights
    in `rows`. All other entries stay unchanged.
    """
    has_groups = len(ob.vertex_groups) > 0
    groups, new_groups = make_groups(ob, names, with_group)
    wanted = wanted_entries(rows, bones, vertices, groups)
    # Without groups nothing is there: entries of none come from files alone, and nobody sees them.
    bare = not has_groups and vertices.all() and len(wanted[0]) >= AT_ONCE
    if bare and write_at_once(ob, *_in_order(*wanted)):
        return {"changed": len(wanted[0]), "removed": 0, "new_groups": new_groups}
    whole = entries is not None or vertices.all()  # entries of all vertices
    if entries is None:
        entries = group_entries(ob.data, None if whole else np.flatnonzero(vertices))
    present = _present(ob, bones, vertices, groups, entries)
    changed, removed = _difference(wanted, present)

    many = whole and len(changed[0]) >= AT_ONCE and _are_plain(entries, len(ob.vertex_groups))
    if not many or not write_at_once(ob, *_merged(entries, changed, removed)):
        _write_one_by_one(ob, entries, changed, removed)
    return {"changed": len(changed[0]), "removed": len(removed[0]), "new_groups": new_groups}


def _in_order(vertices, groups, weights):
    """Entries by vertex, those of each by group."""
    keys = vertices.astype(np.int64) * (1 + int(groups.max(initial=0))) + groups
    order = np.argsort(keys, kind="stable")
    return vertices[order], groups[order], weights[order]


def _are_plain(entries, count):
    """Whether bmesh gives these entries unchanged: those of groups that are not in the list any
    more, or with weights beyond 1, come from files alone."""
    _vertices, groups, weights = entries
    return bool((groups < count).all() and ((weights >= 0) & (weights <= 1)).all())


def _merged(entries, changed, removed):
    """Entries in the order in which Blender has them after these are changed and removed: present
    entries keep their places, new ones come after them, groups ascending."""
    stride = 1 + max(int(groups.max(initial=0)) for _v, groups, _w in (entries, changed))
    there, new, gone = (v * stride + g for v, g, _w in (entries, changed, removed))
    kept = ~np.isin(there, gone)
    order = np.argsort(there[kept], kind="stable")
    ordered, weights = there[kept][order], entries[2][kept].astype(np.float32)
    at = np.minimum(np.searchsorted(ordered, new), max(len(ordered) - 1, 0))
    known = ordered[at] == new if len(ordered) else np.zeros(len(new), bool)
    weights[order[at[known]]] = changed[2][known]
    fresh = np.lexsort((new[~known], changed[0][~known]))
    rest = [each[~known][fresh] for each in changed]
    parts = zip((entries[0][kept], entries[1][kept], weights), rest, strict=True)
    vertices, groups, weights = map(np.concatenate, parts)
    order = np.argsort(vertices, kind="stable")
    return vertices[order], groups[order], weights[order]


def _write_one_by_one(ob, entries, changed, removed):
    bare = np.ones(len(ob.data.vertices), bool)
    bare[entries[0]] = False
    bare = bare[changed[0]]
    _fill(ob, *(each[bare] for each in changed))
    add = [group.add for group in ob.vertex_groups]
    for group, weight, members in batches(*(each[~bare] for each in changed)):
        add[group](members, weight, "REPLACE")
    for group, members in _runs(removed[1], removed[0]):
        ob.vertex_groups[group].remove(members.tolist())


def make_groups(ob, names, with_group):
    """Adds the groups that bones `with_group` lack: (m,) index of the group of each bone, -1 for
    none, and how many are new."""
    active = ob.vertex_groups.active_index
    had_groups = len(ob.vertex_groups) > 0
    index = {group.name: group.index for group in ob.vertex_groups}
    missing = [n for n, wanted in zip(names, with_group, strict=True) if wanted and n not in index]
    for name in missing:
        index[name] = ob.vertex_groups.new(name=name).index
    if missing:
        ob.vertex_groups.active_index = active if had_groups else 0
    return np.array([index.get(name, -1) for name in names]), len(missing)


def wanted_entries(rows, bones, vertices, groups):
    """The entries to write: (vertices, groups, weights as Blender stores them)."""
    owner = rows.vertices
    take = bones[rows.bones] & vertices[owner] & (rows.weights > 0)
    return owner[take], groups[rows.bones[take]], rows.weights[take].astype(np.float32)


def _present(ob, bones, vertices, groups, entries):
    """The entries that are there now."""
    written = np.zeros(len(ob.vertex_groups) + 1, bool)
    written[groups[bones & (groups >= 0)]] = True
    owner, group, weight = entries
    take = vertices[owner] & written[np.minimum(group, len(ob.vertex_groups))]
    return owner[take], group[take], weight[take].astype(np.float32)


def _difference(wanted, present):
    """Entries of wanted that are not in present, and of present whose place is not in wanted."""
    stride = 1 + max(
        (int(groups.max()) for _v, groups, _w in (wanted, present) if len(groups)), default=0
    )
    to, of = (v * stride + g for v, g, _w in (wanted, present))
    order = np.argsort(of)
    at = np.searchsorted(of, to, sorter=order)
    at = order[np.minimum(at, len(of) - 1)] if len(of) else np.zeros(len(to), int)
    same = np.zeros(len(to), bool)
    if len(of):
        same = (of[at] == to) & (present[2][at] == wanted[2])
    gone = ~np.isin(of, to)
    return tuple(a[~same] for a in wanted), tuple(a[gone] for a in present)


def _fill(ob, vertices, groups, weights):
    """Gives vertices without any entries these ones: a call for each group, then, since Blender
    keeps entries in the order in which they come, one for each vertex."""
    for group, members in _runs(groups, vertices):
        ob.vertex_groups[group].add(members.tolist(), 1.0, "REPLACE")
    part = np.isin(vertices, vertices[weights != 1])
    vertices, groups, weights = (each[part] for each in (vertices, groups, weights))
    order = np.lexsort((groups, vertices))
    vertices, weights, every = vertices[order], weights[order].tolist(), ob.data.vertices
    begins = np.flatnonzero(np.diff(vertices, prepend=-1))
    ends = np.append(begins, len(vertices))[1:]
    for vertex, begin, end in zip(
        vertices[begins].tolist(), begins.tolist(), ends.tolist(), strict=True
    ):
        every[vertex].groups.foreach_set("weight", weights[begin:end])


def batches(vertices, groups, weights):
    """(group, weight, [vertices]) of entries, in the order in which Blender adds them soonest: what
    has one weight in one group at once where that is many, then vertex after vertex."""
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


def _runs(keys, values):
    """(key, values) of each key, ascending."""
    if not len(keys):
        return
    order = np.argsort(keys, kind="stable")
    keys, values = keys[order], values[order]
    cuts = np.flatnonzero(np.diff(keys)) + 1
    yield from zip(keys[np.r_[0, cuts]].tolist(), np.split(values, cuts), strict=True)
