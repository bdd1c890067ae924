"""Stores copies of the weights of a mesh, between which the user can switch."""

import numpy as np
from araplbs.base.refusal import Refused
from araplbs.model.sparse_weights import make_sparse_weights

from ..data.references import Reference
from ..read.read_mesh import named_entries, present_weights
from .all_or_nothing import put_entries_back
from .write_weights import write_weights


class WeightSlot:
    """A copy of an object's weights. known: the object's NamedEntries, if the caller has them."""

    def __init__(self, ob, known=None):
        self._reference = Reference.to(ob)
        self._names, self._entries = named_entries(ob) if known is None else known

    @property
    def filled(self):
        """Whether the slot contains any weights."""
        return len(self._entries[0]) > 0

    @property
    def names(self):
        """The names of the groups with weights."""
        groups = np.unique(self._entries[1])
        return [self._names[group] for group in groups.tolist() if group < len(self._names)]

    def object(self):
        """The object. Raises Refused if the object has changed since then."""
        ob = self._reference.get()
        if ob.data.is_editmode:
            raise Refused(f"'{ob.name}' is in Edit mode")
        return ob

    @property
    def size(self):
        """The number of vertices that the object had."""
        return self._reference.size

    def read(self):
        """Returns (group names, (vertices, groups, weights))."""
        return self._names, self._entries

    def rows(self, skeleton):
        """The SparseWeights of deform bones of a Skeleton."""
        return present_weights(self.object(), skeleton, self.read())

    def fits(self):
        """Whether the object still has the same number of vertices, in any mode."""
        ob = self._reference.find()
        return bool(ob and ob.data and len(ob.data.vertices) == self.size)

    def again(self):
        """A slot of the object's current weights."""
        return WeightSlot(self.object())

    def put(self):
        """Writes these weights to the object, and adds missing groups."""
        ob = self.object()
        for name in self._names:
            if name not in ob.vertex_groups:
                ob.vertex_groups.new(name=name)
        place = np.array([ob.vertex_groups[name].index for name in self._names], int)
        vertices, groups, weights = self._entries
        known = groups < len(place)  # files can contain entries of deleted groups
        put_entries_back(ob, (vertices[known], place[groups[known]], weights[known]))


class WrittenSlot(WeightSlot):
    """The weights that write_weights() has just written to an object with these arguments, so
    nothing has to be read."""

    def __init__(self, ob, *arguments):
        self._reference, self._arguments = Reference.to(ob), arguments

    filled = True

    def rows(self, skeleton):
        rows, names = self._arguments[:2]
        places = {n: b for b, n in enumerate(skeleton.names) if skeleton.deform[b]}
        bone = np.array([places.get(name, -1) for name in names])[rows.bones]
        known = bone >= 0
        return make_sparse_weights(
            rows.count, rows.vertices[known], bone[known], rows.weights[known]
        )

    def put(self):
        write_weights(self.object(), *self._arguments)
