"""Limbs that move skin of another limb are found without earlier weights, by the bones that the
skin belongs to."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from paths import TESTS

sys.path.append(str(TESTS / "package/engine"))
from test_owners import body_and_arm


@pytest.fixture
def over(core):
    """A function that returns [(bone, owner)] for weights (n, 3) of body_and_arm(), and the mask of
    the flank, which belongs to bone 0 of the body. Bone 2 is the arm."""
    (vertices, triangles), bones, of_body = body_and_arm()
    module, kind = core("features.check.overreach"), core("features.check.inspected").Inspected
    poses = core("skeleton.poses").Poses(np.zeros((0, 3, 3, 4)), None)
    own = np.eye(3)[np.where(of_body, (vertices[:, 2] > 1).astype(int), 2)]

    def found(weights, parents=(-1, 0, 1)):
        skeleton = SimpleNamespace(
            names=["hips", "chest", "arm"], heads=bones.heads, tails=bones.tails, ways=None,
            parents=np.array(parents), deform=np.ones(3, bool), flexible=False,
        )  # fmt: skip
        arguments = {"vertices": vertices, "triangles": triangles, "edges": np.zeros((0, 2))}
        problem = SimpleNamespace(skeleton=skeleton, arguments=arguments, first=[0, len(vertices)])
        problem.surface = core("character.mesh_faults").Surface(problem)
        rows = core("model.sparse_weights").sparse_of(weights)
        look = kind(problem, rows, poses, core("model.options").Options())
        each = module.overreaches(look)
        assert all(0.01 < some.area < 1 and 0.25 < some.weight <= 1 for some in each)
        return [(some.bone, some.owner) for some in each]

    return found, own, of_body & (vertices[:, 0] > 0.05) & (vertices[:, 2] < 0.9)


def test_an_arm_that_moves_the_flank(over):
    found, own, flank = over
    assert found(own) == []
    pulled = own.copy()
    pulled[flank] = 0.5, 0, 0.5
    assert found(pulled) == [(2, 0)]
    pulled[flank] = 0.8, 0, 0.2
    assert found(pulled) == [], "a little"


def test_skin_of_the_parent_is_not_foreign(over):
    found, own, flank = over
    pulled = own.copy()
    pulled[flank] = 0.5, 0, 0.5
    assert found(pulled, parents=(-1, 0, 0)) == []
    assert found(pulled, parents=(2, 0, -1)) == [], "nor is skin of its descendants"
    assert found(pulled, parents=(-1, 0, -1)) == [], "nor that of another skeleton"


def test_skin_that_its_owner_does_not_move(over):
    """The owner may be wrong."""
    found, own, flank = over
    pulled = own.copy()
    pulled[flank] = 0.05, 0.45, 0.5
    assert found(pulled) == []


def test_the_report_names_both_bones(core, over, monkeypatch):
    """Without earlier weights to compare with."""
    module = core("features.check.lost")
    each = core("features.check.overreach").Overreach(2, 0, np.arange(3), 0.02, 0.5)
    monkeypatch.setattr(module, "overreaches", lambda look: [each])
    skeleton = SimpleNamespace(names=["hips", "chest", "arm"], flexible=False)
    arguments = {"vertices": np.eye(3), "triangles": np.array([[0, 1, 2]]), "edges": []}
    problem = SimpleNamespace(skeleton=skeleton, arguments=arguments, first=[0, 3])
    problem.surface = core("character.mesh_faults").Surface(problem)
    rows = core("model.sparse_weights").sparse_of(np.eye(3))
    found = module.with_lost({"worse": False}, problem, rows, rows)
    assert found == {"worse": False, "reaching": {"arm": "hips"}}
    (line,) = core("reports.warning_lines").reach_lines({"compared": found})
    assert line == "'arm' moves skin that belongs to 'hips'"
