"""The halves of these characters differ by up to 1 %, as in sculpted ones. Some vertices have
partners on the other side, and others do not."""

import araplbs
import numpy as np
import pytest
from shared_data import Character


def sculpted(name, seed, amount):
    """The arguments of a symmetric character after a smooth change of skin and bones by this share
    of its size, and the names of its bones."""
    character = Character(name)
    rng, size = np.random.default_rng(seed), np.ptp(character.vertices, axis=0).max()
    waves, phases = rng.normal(size=(3, 3)) * 4 / size, rng.uniform(0, 6.28, 3)
    bones = character.bones
    skin, heads, tails = (
        points + amount * size * np.sin(points @ waves.T + phases)
        for points in (character.vertices, bones.heads, bones.tails)
    )
    names = [str(name) for name in character.data["bone_names"]]
    return (skin, character.triangles, heads, bones.parents), {"tails": tails, "names": names}


@pytest.mark.parametrize("seed", [3, 9])
def test_the_limit_of_influences_holds(seed):
    """Bones held at the last level may have skin on only one side. The rows of partners were images
    of each other before, and only one of them was reduced."""
    arguments, more = sculpted("mh_base", seed, 0.01)
    found = araplbs.weights(*arguments, **more, random_poses=20)
    assert 0 < found.report["symmetric"] < 1
    assert np.diff(found.rows.start).max() <= 4
