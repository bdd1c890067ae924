"""Tests which bones a character needs least, and the resulting weights of the remaining bones,
without Blender."""

import araplbs
import numpy as np
import pytest
import shapes
from araplbs.base.refusal import Refused
from araplbs.features.reduce_bones.order import removal_order
from araplbs.features.reduce_bones.reduce_bones import (
    ReduceBonesOptions,
    _costs,
    _moments,
    _products,
    choose,
    reduce_bones,
    reduce_bones_report,
)
from araplbs.model.sparse_weights import dense_of, sparse_of
from araplbs.skeleton.skeleton import Skeleton

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
    names = [f"b{k}" for k in range(BONES)]
    skeleton = Skeleton.from_joints(heads, np.arange(BONES) - 1, tails=tails, names=names)
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
    done = reduce_bones(
        vertices, triangles, sparse_of(dense), skeleton, poses, ReduceBonesOptions(count=4)
    )
    assert done.replaced_by in ({3: 2}, {2: 3})
    assert done.gone.sum() == 1 and done.distance[1] < 2e-3
    found = dense_of(done.rows, BONES)
    assert not found[:, done.gone].any()
    np.testing.assert_allclose(found.sum(1), 1, atol=1e-6)


def test_solved_is_nearer_than_merged():
    vertices, triangles, dense, skeleton, poses = tube()
    done = reduce_bones(
        vertices, triangles, sparse_of(dense), skeleton, poses, ReduceBonesOptions(count=3)
    )
    assert done.gone.sum() == 2 and done.distance[1] < done.distance[0]


def test_mirror_images_go_together():
    vertices, triangles, dense, skeleton, poses = tube()
    skeleton.opposite = np.array([4, 3, 2, 1, 0])
    done = reduce_bones(
        vertices, triangles, sparse_of(dense), skeleton, poses, ReduceBonesOptions(count=3)
    )
    gone = set(np.flatnonzero(done.gone).tolist())
    assert gone == {BONES - 1 - bone for bone in gone}


def test_all_or_none():
    vertices, triangles, dense, skeleton, poses = tube()
    common = vertices, triangles, sparse_of(dense), skeleton, poses
    for options, wanted, words in (
        (ReduceBonesOptions(count=5), None, "There are 5 deform bones, no more"),
        (ReduceBonesOptions(which="SELECTED"), np.zeros(BONES, bool), "No deform bone is selected"),
        (
            ReduceBonesOptions(which="SELECTED"),
            np.ones(BONES, bool),
            "All deform bones would be removed",
        ),
        (ReduceBonesOptions(which="ENDS"), None, "No deform bone is named"),
    ):
        with pytest.raises(Refused, match=words):
            reduce_bones(*common, options, wanted)


def with_root(skeleton, poses, deform=False):
    """The chain on an omitted root, with an end that was omitted as well."""
    whole = Skeleton.from_joints(
        np.concatenate([[[0, 0, -1]], skeleton.heads, skeleton.tails[-1:]]),
        np.arange(BONES + 2) - 1,
        tails=np.concatenate([[[0, 1, -1]], skeleton.tails, [[0, 0, 4]]]),
        names=["root", *skeleton.names, "end"],
        deform=np.array([deform, *[True] * BONES, deform]),
    )
    still = np.tile(np.eye(4)[:3], (len(poses), 1, 1, 1))
    return whole, np.concatenate([still, poses, still], 1)


@pytest.mark.parametrize(
    ("count", "gone"),
    [(6, ["end"]), (5, ["end", "root"]), (4, ["end", "root", 1]), (3, ["end", "root", 2])],
)
def test_bones_left_out_as_controls_count_and_go_first(count, gone):
    vertices, triangles, dense, chain, poses = tube()
    skeleton, poses = with_root(chain, poses)
    rows = sparse_of(np.pad(dense, ((0, 0), (1, 1))))
    unused = ~skeleton.deform
    options = ReduceBonesOptions(count=count)
    done = reduce_bones(
        vertices, triangles, rows, skeleton, poses, options, unused=unused
    )  # fmt: skip
    report = reduce_bones_report("Rig", skeleton, done, [], [], options)
    assert (report["bones_before"], report["bones_after"]) == (BONES + 2, count)
    names = [skeleton.names[bone] for bone in np.flatnonzero(done.gone & unused)]
    assert sorted(names) == sorted(name for name in gone if isinstance(name, str))
    assert np.count_nonzero(done.gone & ~unused) == sum(n for n in gone if isinstance(n, int))
    assert not set(report["removed"].values()) & set(report["removed"])
    if count >= BONES:  # nothing that has weights goes, and they stay
        np.testing.assert_array_equal(dense_of(done.rows, BONES + 2)[:, 1:-1], dense)
        assert done.distance == (0, 0)


def test_what_was_left_out_counts_when_there_are_few_already():
    vertices, triangles, dense, chain, poses = tube()
    skeleton, poses = with_root(chain, poses)
    rows = sparse_of(np.pad(dense, ((0, 0), (1, 1))))
    with pytest.raises(Refused, match="There are 7 deform bones, no more than the 7"):
        reduce_bones(
            vertices, triangles, rows, skeleton, poses, ReduceBonesOptions(count=7),
            unused=~skeleton.deform,
        )  # fmt: skip


def order_of(unused=None, wanted=None, mirrored=False):
    """(Order, arguments of choose()) of a chain, or of two arms on a root."""
    vertices, _triangles, dense, skeleton, poses = tube()
    m = len(skeleton.names)
    if mirrored:
        skeleton.opposite = np.array([0, 2, 1, 4, 3])
    unused = np.zeros(m, bool) if unused is None else unused
    wanted = np.zeros(m, bool) if wanted is None else wanted
    skeleton.deform = skeleton.deform & ~unused
    dense[:, unused] = 0
    dense /= dense.sum(1, keepdims=True)
    rows = sparse_of(dense)
    order = removal_order(vertices, rows, skeleton, poses, ReduceBonesOptions(), wanted, unused)
    return order, (vertices, dense, skeleton, poses, wanted, unused)


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("unused", [(), (1, 4)])
def test_the_order_says_which_bones_go(mirrored, unused):
    """The order is valid for any number of bones, as choose() expects."""
    order, (vertices, dense, skeleton, poses, wanted, off) = order_of(
        np.isin(np.arange(BONES), unused), mirrored=mirrored
    )
    for count in range(2, BONES + 2):
        options = ReduceBonesOptions(count=count)
        names = order.going(options)
        assert len(set(names)) == len(names)
        if count >= BONES:
            assert names == []
            continue
        gone, _by = choose(vertices, dense, skeleton, poses, options, wanted, off)
        assert set(names) == {skeleton.names[bone] for bone in np.flatnonzero(gone)}, count


def test_the_order_knows_what_is_selected_and_ends():
    wanted = np.arange(BONES) == 3
    order, _arguments = order_of(wanted=wanted)
    assert order.going(ReduceBonesOptions(which="SELECTED")) == ["b3"]
    assert order.going(ReduceBonesOptions(which="ENDS")) == []
    assert order.going(ReduceBonesOptions(platform="QUEST")) == [] and order.flagged == BONES
