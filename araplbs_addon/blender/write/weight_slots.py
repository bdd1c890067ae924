"""Copies of the weights of a mesh, to switch between them."""

import numpy as np
from araplbs.base.refusal import Refused

from ..data.references import Reference
from ..read.read_mesh import named_entries
from .all_or_nothing import put_entries_back
from .write_weights import write_weights


class WeightSlot:
    """The weights that an object has now. known: its NamedEntries, if they are known."""

    def __init__(self, ob, known=None):
        self._reference = Reference.to(ob)
        self._names, self._entries = named_entries(ob) if known is None else known

    @property
    def filled(self):
        """Whether there are any."""
        return len(self._entries[0]) > 0

    def object(self):
        """Raises Refused if it has changed since."""
        ob = self._reference.get()
        if ob.data.is_editmode:
            raise Refused(f"'{ob.name}' is in Edit mode")
        return ob

    @property
    def size(self):
        """How many vertices the object had."""
        return self._reference.size

    def read(self):
        """(names of groups, (vertices, groups, weights))."""
        return self._names, self._entries

    def fits(self):
        """Whether the object still has these vertices, in any mode."""
        ob = self._reference.find()
        return bool(ob and ob.data and len(ob.data.vertices) == self.size)

    def again(self):
        """A slot of what the object has now."""
        return WeightSlot(self.object())

    def put(self):
        """Gives the object these weights, and the groups that it lacks."""
        ob = self.object()
        for name in self._names:
            if name not in ob.vertex_groups:
                ob.vertex_groups.new(name=name)
        place = np.array([ob.vertex_groups[name].index for name in self._names], int)
        vertices, groups, weights = self._entries
        known = groups < len(place)  # files can hold entries of groups that are gone
        put_entries_back(ob, (vertices[known], place[groups[known]], weights[known]))


class WrittenSlot(WeightSlot):
    """The weights that write_weights() has just given an object with these arguments; nothing is
    read."""

    def __init__(self, ob, *arguments):
        self._reference, self._arguments = Reference.to(ob), arguments

    filled = True

    def put(self):
        write_weights(self.object(), *self._arguments)
