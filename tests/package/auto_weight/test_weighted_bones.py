"""The bones that have weights, the poses of what is displayed, and meshes without a volume."""

from dataclasses import replace

import numpy as np
import pytest
from araplbs.base.refusal import Refused
from araplbs.character.mesh import Mesh, used_bones
from araplbs.character.pose_sets import POSE_OPTIONS, pose_options
from araplbs.model.edits import Edits
from araplbs.model.options import Options
from araplbs.model.sparse_weights import sparse_of
from araplbs.skeleton.skeleton import Skeleton, of_weighted
from araplbs.solvers.volume import refuse_meshes

JOINTS = np.array([(0.0, 0, z) for z in range(4)])


@pytest.fixture
def chain():
    """Bone 0 does not deform."""
    return Skeleton.from_joints(JOINTS, [-1, 0, 1, 2], deform=[False, True, True, True])


def mesh(*rows, **more):
    weights = sparse_of(np.array(rows, float)) if rows else None
    nothing = np.zeros((0, 3), int), np.zeros((0, 2), int)
    return Mesh("Body", np.zeros((len(rows), 3)), *nothing, np.eye(4), weights=weights, **more)


def test_bones_with_weights_and_those_that_carry_them(chain):
    found = of_weighted(chain, mesh((0, 0, 1, 0)).weights)
    assert found.deform.tolist() == [False, True, True, False]
    assert of_weighted(chain, mesh((0, 0, 0, 0)).weights) is chain


def test_used_bones(chain):
    meshes = [mesh((0, 1, 0, 0)), mesh(), mesh((0, 0, 0, 0.5))]
    assert used_bones(meshes, chain).tolist() == [False, True, False, True]


def test_options_of_poses():
    options = Options(swing=0.25, seed=7, max_influences=2, start_from="PRESENT")
    found = pose_options(options)
    assert found == replace(Options(), swing=0.25, seed=7)
    assert all(getattr(found, name) == getattr(options, name) for name in POSE_OPTIONS)


@pytest.mark.parametrize(
    ("options", "facts", "count", "why"),
    [
        ({}, {"locked_vertices": np.array([True])}, 1, "keeps some of its weights"),
        ({}, {"edits": Edits(rigid=[np.array([0])])}, 1, "has rigid parts"),
        ({"volume": "FILE", "tet_space": "OBJECT"}, {}, 2, "belongs to one mesh, not to 2"),
    ],
)
def test_meshes_that_support_no_volume(options, facts, count, why):
    options = Options(**{"volume": "INSIDE", **options})
    with pytest.raises(Refused, match=why):
        refuse_meshes([mesh((1, 0, 0, 0), **facts)] * count, options)
    refuse_meshes([mesh((1, 0, 0, 0))], options)


def test_rigid_parts_that_are_off():
    options = Options(volume="INSIDE", rigid_parts="OFF")
    refuse_meshes([mesh((1, 0, 0, 0), edits=Edits(rigid=[np.array([0])]))], options)
