"""Reads the numbers of the reference implementation (fixtures/), and the characters of
$ARAPLBS_DATA. Tests that need a missing character are skipped."""

from functools import cache

import numpy as np
from paths import DATA, FIXTURES, shared_file
from shapes import Bones


@cache
def load(folder, name):
    with np.load(shared_file(folder, f"{name}.npz"), allow_pickle=True) as archive:
        return {key: archive[key] for key in archive.files}


def fixture(name):
    return load(FIXTURES, name)


class Character:
    """A rigged mesh of $ARAPLBS_DATA/data."""

    def __init__(self, name):
        data = load(DATA, name)
        self.name, self.data = name, data
        self.vertices, self.triangles = data["V"], data["F"]
        self.edges = data.get("wire_edges")
        self.bones = Bones(
            data["bone_head"],
            data["bone_tail"],
            data["bone_parent"],
            roll_axes=data.get("bone_roll_axis"),
            deform=data.get("bone_deform"),
        )
        self.animation = data.get("anim", np.zeros((0,)))
        self.artist = data.get("W")

    @property
    def arguments(self):
        return self.vertices, self.triangles, *self.bones

    @property
    def more(self):
        return {**self.bones.more, "edges": self.edges}
