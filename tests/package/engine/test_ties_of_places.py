"""Vertices at the same distance from two bones: rounding of coordinates must not decide which bone
holds them."""

import numpy as np
import pytest
import shapes

ROUNDING = 1e-9


def hips():
    """A tube around two legs side by side, whose middle is equally far from both, and a third
    bone."""
    vertices, triangles = shapes.tube(12, 33, 0.5, 2.0, caps=True)
    heads = np.array([[-0.25, 0, 0.1], [0.25, 0, 0.1], [0, 0, 1.2]])
    tails = np.array([[-0.25, 0, 1.1], [0.25, 0, 1.1], vertices[np.argmax(vertices[:, 2])]])
    return (vertices, triangles), shapes.Bones(heads, tails, np.array([-1, -1, 0]))


def moved(mesh, seed):
    noise = np.random.default_rng(seed).normal(size=mesh[0].shape)
    return mesh[0] + ROUNDING * noise, mesh[1]


@pytest.mark.parametrize("seed", range(4))
def test_springs_go_to_the_same_bones(seed):
    mesh, bones = hips()
    one, two = (
        shapes.solver(m, bones, coarsen=0, pose_count=2)._inside for m in (mesh, moved(mesh, seed))
    )
    np.testing.assert_array_equal(one["spring_bone"], two["spring_bone"])


def test_outside_a_bend_springs_go_to_the_bone_that_is_more_in_front():
    """There, the joint is the nearest point of both bones, and their order does not matter."""
    vertices, triangles = shapes.sphere(11, 18, 1.0)
    turn = shapes.rotation((1, 2, 3), 0.7)
    mesh = (vertices @ turn.T, triangles)
    joint, ends = np.zeros(3), np.array([[0.8, 0, 0], [0, 0.8, 0]])
    one = shapes.Bones(np.array([ends[0], joint]), np.array([joint, ends[1]]), np.array([-1, 0]))
    two = shapes.Bones(one.heads[::-1], one.tails[::-1], np.array([1, -1]))
    first, second = (
        shapes.solver(mesh, bones, coarsen=0, pose_count=2)._inside["spring_bone"]
        for bones in (one, two)
    )
    np.testing.assert_array_equal(first, 1 - second)
    wedge = (mesh[0][:, :2] < 0).all(axis=1)
    assert wedge.sum() > 30
    expected = mesh[0][wedge, 0] < mesh[0][wedge, 1]
    np.testing.assert_array_equal(first[wedge], expected)
