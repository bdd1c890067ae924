"""Gives loose parts wholly to a bone, with pinned weights that the next Auto-weight keeps, and
takes this back."""

from typing import NamedTuple

import numpy as np
from araplbs.base.refusal import Refused
from araplbs.character.rigid_parts import loose_parts

from ..data.binding import mark_centers_old
from ..data.edits import erase_edits, is_pinned, paint_edit
from ..read.read_mesh import (
    group_entries,
    group_names,
    read_topology,
    refuse_edited,
    refuse_linked,
)


class PartOfMesh:
    """The loose part of a mesh object that contains a vertex."""

    def __init__(self, ob, vertex):
        self.ob, self.vertex = ob, vertex

    def is_given(self, bone):
        """Whether the part is pinned to a bone. Reads only one vertex."""
        return is_pinned(self.ob.data, bone, self.vertex)

    def refuse(self, bones):
        """Raises Refused if the weights of these bones cannot be changed in this part. Reads the
        part."""
        ob = self.ob
        refuse_linked(ob)
        refuse_edited(ob)
        if self.vertex >= len(ob.data.vertices):
            raise Refused("It no longer exists")
        label = loose_parts(read_topology(ob))
        self.vertices = np.flatnonzero(label == label[self.vertex])
        self.entries = group_entries(ob.data, self.vertices)
        names = group_names(ob)
        self._groups = [k for k, name in enumerate(names) if name in bones]
        used = set(self.entries[1].tolist())
        for group in self._groups:
            if ob.vertex_groups[group].lock_weight and (group in used or names[group] in bones[:1]):
                raise Refused(f"The vertex group '{names[group]}' of '{ob.name}' is locked")

    def give(self, bone):
        """Moves the part to a bone, and pins it there. Returns the weights that it had, for
        take_back(). refuse() must have been called."""
        groups, every = self.ob.vertex_groups, self.vertices.tolist()
        had = self.entries, group_names(self.ob)
        for group in self._groups:
            groups[group].remove(every)
        active = groups.active_index
        if bone not in groups:
            groups.new(name=bone)
            groups.active_index = max(0, active)
        groups[bone].add(every, 1.0, "REPLACE")
        mark_centers_old(self.ob)
        self._pin(bone)
        return had

    def take_back(self, had, bone, pinned):
        """Undoes give(). had: the weights that it returned, or None: all weight goes to `bone`.
        pinned: whether the part was pinned to `bone`."""
        if had is None:
            self.give(bone)
        else:
            (vertices, old, weights), names = had
            groups = self.ob.vertex_groups
            for group in self._groups:
                groups[group].remove(self.vertices.tolist())
            for vertex, group, weight in zip(
                vertices.tolist(), old.tolist(), weights.tolist(), strict=True
            ):
                if group < len(names) and names[group] in groups:
                    groups[names[group]].add((vertex,), weight, "REPLACE")
        self._pin(bone if pinned else None)

    def _pin(self, bone):
        """Pins all weight of the part to a bone, or nothing of it if bone is None."""
        erase_edits(self.ob.data, "WEIGHT", self.vertices)
        if bone is not None:
            paint_edit(self.ob.data, "WEIGHT", bone, self.vertices, 2)


class Choice(NamedTuple):
    """A PartOfMesh, its bone, the other bones that fit it, and whether it was pinned to its
    bone."""

    part: PartOfMesh
    bone: str
    others: list[str]
    pinned: bool = False

    @property
    def given(self):
        """The other bone to which the part has been given, or None."""
        return next((other for other in self.others if self.part.is_given(other)), None)

    @property
    def offered(self):
        """Returns (the bone of the part, the bones to which a click gives it)."""
        given = self.given
        return (given, [self.bone]) if given else (self.bone, self.others)


def toggle(choices, number, bones, memory):
    """Gives the parts of Choices to their other bones with this number, or back if the first part
    has been given already. bones: names of all bones; memory: a dictionary that remembers the
    earlier weights. Returns the names of the new bones. Raises Refused before anything changes."""
    if not 0 <= number < len(choices[0].others):
        raise Refused(f"There is no bone {number}: there are {len(choices[0].others)}")
    back = choices[0].given is not None
    choices = [each for each in choices if (each.given is not None) == back]
    targets = [each.bone if back else each.others[number] for each in choices]
    for each, to in zip(choices, targets, strict=True):
        each.part.refuse([to, *bones])
    for each, to in zip(choices, targets, strict=True):
        part = each.part
        part.refuse([to, *bones])  # reads the groups, which may now be more
        key = part.ob.session_uid, part.vertex, each.given or to
        if back:
            part.take_back(memory.pop(key, None), to, each.pinned)
        else:
            memory[key] = part.give(to)
        part.ob.data.update()
    return targets
