"""Writes the vertex groups of an object in short steps while its weights converge, and can restore
them to the last bit.

Earlier entries are never removed during the session, only set to zero. If an entry were removed,
Blender would move the vertex's last entry into its place, but the original order must also be
restored. Groups are identified by name, because other code may add, remove or move them during the
session.
"""

import bpy
import numpy as np
from araplbs.base.refusal import Refused
from araplbs.model.entry_chunks import VERTICES_A_STEP, by_group, changes, in_chunks, sorted_entries
from araplbs.model.group_entries import wanted_entries

from ...blender.data.binding import mark_centers_old
from ...blender.data.mesh_shape import MeshShape
from ...blender.data.references import Reference
from ...blender.read.read_mesh import named_entries, named_entries_in_steps
from ...blender.write.edit_mode import set_edited_entries
from ...blender.write.write_weights import make_groups


class LiveWeights:
    """names, groups, bones, vertices: see write_weights(). known: the current NamedEntries of
    `ob`."""

    def __init__(self, ob, known, names, groups, bones, vertices):
        self._begun = self._reference = Reference.to(ob)
        self._shape = MeshShape(ob.data)
        self._bones, self._vertices = bones, vertices
        self._active, old = ob.vertex_groups.active_index, {g.name for g in ob.vertex_groups}
        self._groups, _new = make_groups(ob, names, groups)
        self._names = [g.name for g in ob.vertex_groups]
        self._added = [name for name in self._names if name not in old]
        self._count = len(ob.data.vertices)
        self._present = self._chunks(known.entries)
        self._before = list(self._present)
        self._changed = self._removed = 0

    def write(self, rows, exact=False):
        """Returns steps that write these weights. exact: whether to write them to the last bit and
        without zeros."""
        for chunk in range(len(self._present)):
            ob = self._object()
            begin = chunk * VERTICES_A_STEP
            end = min(begin + VERTICES_A_STEP, self._count)
            owners, groups, weights = wanted_entries(
                rows.slice(begin, end), self._bones, self._vertices[begin:end], self._groups
            )
            self._apply(ob, chunk, *self._sorted(owners + begin, groups, weights), exact)
            yield
        if exact and (self._changed or self._removed):
            mark_centers_old(self._object())
        return {
            "changed": self._changed,
            "removed": self._removed,
            "new_groups": len(self._added),
        }

    def holders(self):
        """The objects that hold the written weights. Holders are the original object, and an object
        that shares the original mesh if the original object was deleted or now has another mesh."""
        own = sharing = None
        for ob in bpy.data.objects:
            if ob.type != "MESH":
                continue
            if ob.session_uid == self._begun.uid:
                own = ob
            elif ob.data.session_uid == self._begun.data_uid:
                sharing = ob
        if own and own.data.session_uid == self._begun.data_uid:
            sharing = None
        return [ob for ob in (own, sharing) if ob]

    def is_of(self, ob):
        """Whether the object still has the vertices from the start."""
        return self._shape.is_of(ob.data)

    def _fits(self, ob):
        """Whether the original vertices are the object's first vertices."""
        if ob.data.is_editmode:
            ob.update_from_editmode()
        return self._shape.is_of(ob.data) or self._shape.begins(ob.data)

    def put_back(self):
        """Returns steps that restore the original weights in all holders. The steps return the
        names of holders whose vertices have changed. These holders keep the written weights."""
        lost = []
        for reference in [Reference.to(ob) for ob in self.holders()]:
            try:
                ob = reference.get()
                if not self._fits(ob):
                    lost.append(ob.name)
                    continue
                self._reference = reference
                self._look((yield from named_entries_in_steps(ob)))
                for chunk in range(len(self._before)):
                    self._apply(self._object(), chunk, *self._before[chunk], exact=True)
                    yield
                self._put_back_groups(self._object())
            except (Refused, ReferenceError):  # changed between two steps
                lost += [ob.name for ob in self.holders() if ob.session_uid == reference.uid]
        return lost

    def put_back_at_once(self, wanted):
        """Restores the weights in one step and in any mode, for the holders for which
        `wanted`(object) is true."""
        for ob in self.holders():
            if not wanted(ob) or not self._fits(ob):
                continue
            self._reference = Reference.to(ob)
            if ob.data.is_editmode:
                self._put_back_in_edit_mode(self._object())
            else:
                self._look(named_entries(ob))
                for chunk in range(len(self._before)):
                    self._apply(ob, chunk, *self._before[chunk], exact=True)
            self._put_back_groups(ob)

    def _put_back_groups(self, ob):
        for name in self._added:
            if name in ob.vertex_groups:
                ob.vertex_groups.remove(ob.vertex_groups[name])
        ob.vertex_groups.active_index = self._active

    def look_again(self, known):
        """Takes these NamedEntries as the current ones, because other code may have written weights
        since then. Returns False if groups have other numbers now and must be read again."""
        self.refuse_others()
        if not known.are_of(self._reference.get()):
            return False
        self._look(known)
        return True

    def refuse_others(self):
        """Raises Refused if the vertices differ from those at the start."""
        ob = self._object()
        if not self.is_of(ob):
            raise Refused(f"'{ob.name}' has changed since it was read")

    def _look(self, known):
        """Reads the current entries. known: NamedEntries of the object. The entries that _object()
        adds come after them."""
        self._object()
        self._present = self._chunks(known.entries)

    def _object(self):
        """The object. Its current group names are stored in self._names. A written group that other
        code has removed is created again."""
        ob = self._reference.get()
        names = [group.name for group in ob.vertex_groups]
        if names == self._names:
            return ob
        written = set(self._groups[self._bones].tolist())
        for index, name in enumerate(self._names):
            if name in names:
                continue
            if index < len(names) and names[index] not in self._names:
                renamed = names[index]  # as Blender does with bones
                self._added = [renamed if each == name else each for each in self._added]
                self._names[index] = renamed
            elif index in written:
                names.append(ob.vertex_groups.new(name=name).name)
        to = np.array([names.index(name) if name in names else -1 for name in self._names])
        stride, self._groups = self._stride, np.where(self._groups < 0, -1, to[self._groups])
        self._names = names
        for chunks in (self._present, self._before):
            for chunk, (keys, weights) in enumerate(chunks):
                vertices, groups = np.divmod(keys, stride)
                chunks[chunk] = self._sorted(vertices, to[groups], weights)
        return ob

    @property
    def _stride(self):
        return max(1, len(self._names))

    def _sorted(self, vertices, groups, weights):
        return sorted_entries(self._stride, vertices, groups, weights)

    def _chunks(self, entries):
        """Returns (keys, weights) for the vertices of each step and the groups that are written."""
        written = np.zeros(self._stride + 1, bool)
        written[self._groups[self._bones & (self._groups >= 0)]] = True
        return in_chunks(entries, self._count, self._stride, written, self._vertices)

    def _apply(self, ob, chunk, keys, weights, exact):
        present_keys, _present = self._present[chunk]
        differs, fade, after = changes(self._present[chunk], keys, weights, exact)
        add = [group.add for group in ob.vertex_groups]
        whole = differs & (weights == 1)  # the only entries of their vertices
        for group, members in by_group(keys[whole], self._stride):
            add[group](members.tolist(), 1.0, "REPLACE")
        some = differs & ~whole
        vertices, groups = np.divmod(keys[some], self._stride)
        for vertex, group, weight in zip(
            vertices.tolist(), groups.tolist(), weights[some].tolist(), strict=True
        ):
            add[group]((vertex,), weight, "REPLACE")
        for group, members in by_group(present_keys[fade], self._stride):
            if exact:
                ob.vertex_groups[group].remove(members.tolist())
            else:
                add[group](members.tolist(), 0.0, "REPLACE")
        self._present[chunk] = after
        self._changed += int(np.count_nonzero(differs))
        self._removed += int(np.count_nonzero(fade))

    def _put_back_in_edit_mode(self, ob):
        """Restores the weights in Edit mode, which keeps its own copy of the weights and would
        overwrite any others with this copy."""
        keys, weights = (np.concatenate(parts) for parts in zip(*self._before, strict=True))
        vertices, groups = np.divmod(keys, self._stride)
        written = set(self._groups[self._bones].tolist())
        set_edited_entries(ob, (vertices, groups, weights), self._vertices, written)
