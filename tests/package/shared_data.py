"""Reads the numbers of the reference implementation (fixtures/), and the characters in the folder
`shared` next to the project. Tests that need missing data are skipped."""

from functools import cache

import numpy as np
import pytest
from paths import DATA, FIXTURES
from shapes import Bones


@cache
def load(folder, name):
    path = folder / f"{name}.npz"
    if folder != FIXTURES and not path.exists():
        pytest.skip("no ../shared/data beside the project")
    with np.load(path, allow_pickle=True) as archive:
        return {key: archive[key] for key in archive.files}


def fixture(name):
    return load(FIXTURES, name)


class Character:
    """A rigged mesh of ../shared/data."""

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
