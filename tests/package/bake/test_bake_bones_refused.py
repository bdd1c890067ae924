"""Bones for which a bake is refused."""

from types import SimpleNamespace

import numpy as np
import pytest
from araplbs.base.refusal import Refused
from araplbs.features.bake import refuse_bones
from araplbs.skeleton.poses import BENDY, RIGID


def bones(*kinds, deform=None):
    names = [f"bone {k}" for k in range(len(kinds))]
    deform = np.ones(len(kinds), bool) if deform is None else np.array(deform)
    return SimpleNamespace(names=names, kinds=list(kinds), deform=deform)


def test_bendy_bones():
    with pytest.raises(Refused, match=r"^'Rig' has bendy bones \(bone 1\): convert them"):
        refuse_bones("Rig", bones(RIGID, BENDY, RIGID))
    refuse_bones("Rig", bones(RIGID, BENDY, RIGID, deform=[True, False, True]))


def test_one_bone():
    with pytest.raises(Refused, match=r"^'Rig' has only one deform bone"):
        refuse_bones("Rig", bones(RIGID, RIGID, deform=[True, False]))
    refuse_bones("Rig", bones(RIGID), new_bones=1)
