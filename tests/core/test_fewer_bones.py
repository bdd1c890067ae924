"""Which bones are missed least, and what the weights of the others come to; without Blender."""

import araplbs
import numpy as np
import pytest
import shapes

from araplbs_addon.core.base.refusal import Refused
from araplbs_addon.core.character.problem import Skeleton
from araplbs_addon.core.character.sparse_weights import dense_of, sparse_of
from araplbs_addon.core.tools.fewer_bones import (
    FewerOptions,
    _costs,
    _moments,
    _products,
    fewer_bones,
)

BONES = 5


def tube():
    """(vertices, triangles, weights, Skeleton, poses): a chain in a tube."""
    vertices, triangles = shapes.tube(10, 31, 0.3, height=3.0)
    ends = np.linspace(0, 3, BONES + 1)
    heads, tails = np.zeros((BONES, 3)), np.zeros((BONES, 3))
    heads[:, 2], tails[:, 2] = ends[:-1], ends[1:]
    z = vertices[:, 2:]
    dense = np.exp(-((z - (heads[:, 2] + tails[:, 2]) / 2) ** 2) / 0.1)
    dense /= dense.sum(1, keepdims=True)
    skeleton = Skeleton(
        [f"b{k}" for k in range(BONES)],
        heads,
        tails,
        np.arange(BONES) - 1,
        np.tile([1.0, 0, 0], (BONES, 1)),
        np.ones(BONES, bool),
        np.full((BONES, 3, 2), np.nan),
        np.arange(BONES),
    )
    poses = araplbs.sample_poses(heads, tails, skeleton.parents, 12, seed=3)
    return vertices, triangles, dense, skeleton, poses


def test_costs_are_those_of_vertices():
    vertices, _triangles, dense, _skeleton, poses = tube()
    center = vertices.mean(0)
    points = np.hstack([vertices - center, np.ones((len(vertices), 1))])
    sums = {b: _moments(points, dense[:, b]) for b in range(BONES)}
    every = np.arange(BONES)
    costs, best = _costs(sums, every, every, _products(poses, center))
    posed = (
        np.einsum("pbij,vj->bpvi", poses[..., :3], vertices)
        + poses[..., 3].swapaxes(0, 1)[:, :, None]
    )
    for b in range(BONES):
        squares = np.square(posed - posed[b]).sum(-1)  # (other, pose, vertex)
        found = (squares * dense[:, b] ** 2).sum((1, 2))
        found[b] = np.inf
        assert found[best[b]] == pytest.approx(found.min())  # two may be as good
        assert costs[b] == pytest.approx(found.min(), rel=1e-9)


def test_a_bone_that_follows_another_goes_and_nothing_changes():
    vertices, triangles, dense, skeleton, poses = tube()
    poses[:, 3] = poses[:, 2]
    done = fewer_bones(
        vertices, triangles, sparse_of(dense), skeleton, poses, FewerOptions(count=4)
    )
    assert done.replaced_by in ({3: 2}, {2: 3})
    assert done.gone.sum() == 1 and done.distance[1] < 2e-3
    found = dense_of(done.rows, BONES)
    assert not found[:, done.gone].any()
    np.testing.assert_allclose(found.sum(1), 1, atol=1e-6)


def test_solved_is_nearer_than_merged():
    vertices, triangles, dense, skeleton, poses = tube()
    done = fewer_bones(
        vertices, triangles, sparse_of(dense), skeleton, poses, FewerOptions(count=3)
    )
    assert done.gone.sum() == 2 and done.distance[1] < done.distance[0]


def test_mirror_images_go_together():
    vertices, triangles, dense, skeleton, poses = tube()
    skeleton.opposite = np.array([4, 3, 2, 1, 0])
    done = fewer_bones(
        vertices, triangles, sparse_of(dense), skeleton, poses, FewerOptions(count=3)
    )
    gone = set(np.flatnonzero(done.gone).tolist())
    assert gone == {BONES - 1 - bone for bone in gone}


def test_all_or_none():
    vertices, triangles, dense, skeleton, poses = tube()
    common = vertices, triangles, sparse_of(dense), skeleton, poses
    for options, wanted, words in (
        (FewerOptions(count=5), None, "There are 5 deform bones already"),
        (FewerOptions(which="SELECTED"), np.zeros(BONES, bool), "No deform bone is selected"),
        (FewerOptions(which="SELECTED"), np.ones(BONES, bool), "All deform bones would go"),
        (FewerOptions(which="ENDS"), None, "No deform bone has a name"),
    ):
        with pytest.raises(Refused, match=words):
            fewer_bones(*common, options, wanted)
