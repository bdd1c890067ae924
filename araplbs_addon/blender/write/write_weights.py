"""Writes weights into vertex groups: only the entries that change are touched."""

import numpy as np

from ..read.read_mesh import group_entries


def write_weights(ob, rows, names, with_group, bones, vertices):
    """Makes the weights of an object those of `rows`; returns what was done, as a dictionary.

    names: of all bones. with_group (m,) bool: bones that get a group where they have none.
    bones (m,) bool: those whose groups are written. vertices (n,) bool: those that are written.
    A bone without a group has no weights in `rows`. All other entries stay as they are.
    """
    groups, new_groups = make_groups(ob, names, with_group)
    wanted = wanted_entries(rows, bones, vertices, groups)
    present = _present(ob, bones, vertices, groups)
    changed, removed = _difference(wanted, present)

    add = [group.add for group in ob.vertex_groups]
    for group, weight, members in batches(*changed):
        add[group](members, weight, "REPLACE")
    order = np.argsort(removed[1], kind="stable")
    for group, members in _runs(removed[1][order], removed[0][order]):
        ob.vertex_groups[group].remove(members.tolist())
    return {"changed": len(changed[0]), "removed": len(removed[0]), "new_groups": new_groups}


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


def _present(ob, bones, vertices, groups):
    """The entries that are there now."""
    written = np.zeros(len(ob.vertex_groups) + 1, bool)
    written[groups[bones & (groups >= 0)]] = True
    which = None if vertices.all() else np.flatnonzero(vertices)
    owner, group, weight = group_entries(ob.data, which)
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


def batches(vertices, groups, weights):
    """(group, weight, [vertices]) with all vertices of equal weight in one batch."""
    order = np.lexsort((vertices, weights, groups))
    vertices, groups, weights = (a[order].tolist() for a in (vertices, groups, weights))
    begin = 0
    for end in range(1, len(vertices) + 1):
        if end == len(vertices) or groups[end] != groups[begin] or weights[end] != weights[begin]:
            yield groups[begin], weights[begin], vertices[begin:end]
            begin = end


def _runs(keys, values):
    """(key, values) of each run of equal keys."""
    if not len(keys):
        return
    cuts = np.flatnonzero(np.diff(keys)) + 1
    yield from zip(keys[np.r_[0, cuts]].tolist(), np.split(values, cuts), strict=True)
