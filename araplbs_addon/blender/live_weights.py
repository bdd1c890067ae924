"""Vertex groups of an object while its weights converge: written in short steps, and put back as
they were, to the last bit.

Entries that were there before are never removed on the way, only set to zero: Blender moves the
last entry of a vertex to the place of a removed one, and their order shall come back as well.
"""

import numpy as np

from .references import Reference
from .write_weights import make_groups, wanted_entries

VERTICES_A_STEP = 1024
LEAST_CHANGE = 1 / 1024  # smaller ones are not seen on the way


class LiveWeights:
    """names, groups, bones, vertices: as for write_weights(). entries: group_entries() of `ob`."""

    def __init__(self, ob, entries, names, groups, bones, vertices):
        self._reference = Reference.to(ob)
        self._bones, self._vertices = bones, vertices
        self._active, self._old_groups = ob.vertex_groups.active_index, len(ob.vertex_groups)
        self._groups, self._new_groups = make_groups(ob, names, groups)
        self._count = len(ob.data.vertices)
        self._stride = max(1, len(ob.vertex_groups))
        self._present = self._chunks(entries)
        self._before = list(self._present)
        self._changed = self._removed = 0

    def write(self, rows, exact=False):
        """Steps that write these weights; exact: to the last bit, and without zeros."""
        for chunk in range(len(self._present)):
            begin = chunk * VERTICES_A_STEP
            end = min(begin + VERTICES_A_STEP, self._count)
            owners, groups, weights = wanted_entries(
                rows.slice(begin, end), self._bones, self._vertices[begin:end], self._groups
            )
            self._apply(chunk, *self._sorted(owners + begin, groups, weights), exact)
            yield
        return {
            "changed": self._changed,
            "removed": self._removed,
            "new_groups": self._new_groups,
        }

    def restore(self):
        """Steps that put back what was there at the start."""
        for chunk, entries in enumerate(self._before):
            self._apply(chunk, *entries, exact=True)
            yield
        groups = self._reference.get().vertex_groups
        while len(groups) > self._old_groups:
            groups.remove(groups[-1])
        groups.active_index = self._active

    def look_again(self, entries):
        """Others have written meanwhile: these are the group_entries() now."""
        self._present = self._chunks(entries)

    def _sorted(self, vertices, groups, weights):
        keys = vertices.astype(np.int64) * self._stride + groups
        order = np.argsort(keys)
        return keys[order], weights[order].astype(np.float32)

    def _chunks(self, entries):
        """(keys, weights) of each step's vertices, of the groups that are written."""
        written = np.zeros(self._stride + 1, bool)
        written[self._groups[self._bones]] = True
        vertices, groups, weights = entries
        take = self._vertices[vertices] & written[np.minimum(groups, self._stride)]
        keys, values = self._sorted(vertices[take], groups[take], weights[take])
        firsts = np.arange(0, self._count, VERTICES_A_STEP)[1:] * self._stride
        cuts = np.searchsorted(keys, firsts)
        return list(zip(np.split(keys, cuts), np.split(values, cuts), strict=True))

    def _apply(self, chunk, keys, weights, exact):
        ob = self._reference.get()
        present_keys, present = self._present[chunk]
        at = np.minimum(np.searchsorted(present_keys, keys), max(len(present_keys) - 1, 0))
        known = present_keys[at] == keys if len(present_keys) else np.zeros(len(keys), bool)
        old = np.where(known, present[at] if len(present) else 0, np.float32(-1))
        differs = old != weights if exact else np.abs(np.maximum(old, 0) - weights) > LEAST_CHANGE
        gone = ~np.isin(present_keys, keys)
        fade = gone & (exact | (present != 0))

        add = [group.add for group in ob.vertex_groups]
        vertices, groups = np.divmod(keys[differs], self._stride)
        for vertex, group, weight in zip(
            vertices.tolist(), groups.tolist(), weights[differs].tolist(), strict=True
        ):
            add[group]((vertex,), weight, "REPLACE")
        vertices, groups = np.divmod(present_keys[fade], self._stride)
        for group in np.unique(groups).tolist():
            members = vertices[groups == group].tolist()
            if exact:
                ob.vertex_groups[group].remove(members)
            else:
                add[group](members, 0.0, "REPLACE")
        self._note(chunk, keys, np.where(differs, weights, old), gone, exact)
        self._changed += np.count_nonzero(differs)
        self._removed += np.count_nonzero(fade)

    def _note(self, chunk, keys, weights, gone, exact):
        """What is there now: an entry that was not worth adding (old weight -1) is not."""
        there = weights >= 0
        keys, weights = keys[there], weights[there]
        if not exact:
            present_keys, _present = self._present[chunk]
            keys = np.concatenate([keys, present_keys[gone]])
            weights = np.concatenate([weights, np.zeros(np.count_nonzero(gone), np.float32)])
        order = np.argsort(keys)
        self._present[chunk] = keys[order], weights[order].astype(np.float32)
