"""The groups that mirror images of kept meshes belong to."""

from types import SimpleNamespace

import numpy as np
from araplbs.features.restore.restore import opposite_groups


def test_opposite_groups():
    skeleton = SimpleNamespace(names=["spine", "arm.L", "arm.R", "leg.L", "leg.R"])
    skeleton.opposite = np.array([0, 2, 1, 4, 3])
    groups = ["arm.R", "mask", "spine", "arm.L", "leg.L"]
    expected = ["arm.L", "mask", "spine", "arm.R", "leg.L"]
    found = opposite_groups(groups, skeleton)
    assert [groups[k] for k in found] == expected, "there is no group leg.R"
    assert opposite_groups([], skeleton).tolist() == []
