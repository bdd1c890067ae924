"""Exact shapes lead to ties, such as equal energies before and after a step that changes nothing.
Coordinates that differ by rounding must not change how ties are decided, nor which of two bones at
the same distance holds a vertex."""

from functools import cache

import numpy as np
import pytest
import shapes

ROUNDING = 1e-7
SEEDS = range(6)
SETTINGS = {
    "defaults": {},
    "a limit": {"max_influences": 2},
    "no springs of limbs": {"section": 0},
    "converged": {"tolerance": 0, "iterations": 30},
    "converged without springs of limbs": {"tolerance": 0, "iterations": 30, "section": 0},
    "no acceleration": {"acceleration": 0},
}


def long_tube():
    """A tube with ten sides and a bone for each third; the ends stop short of the caps."""
    bones = shapes.chain(3, 3.0)
    bones.heads[0, 2], bones.tails[2, 2] = 0.05, 2.95
    return shapes.tube(10, 19, 0.3, 3.0, caps=True), bones.but(roll_axes=None)


FIGURES = {
    "long tube": long_tube,
    "tube": lambda: (shapes.tube(10, 25, 0.2, 2.0, caps=True), shapes.chain(3)),
    "eight sides": lambda: (shapes.tube(8, 17, 0.2, 2.0, caps=True), shapes.chain(2)),
    "open tube": lambda: (shapes.tube(6, 21, 0.2, 2.0), shapes.chain(4)),
}


def in_single(vertices):
    """The coordinates in the precision in which Blender stores them."""
    return vertices.astype(np.float32).astype(float)


@cache
def weights_of(figure, settings, seed=None):
    (vertices, triangles), bones = FIGURES[figure]()
    if seed is not None:
        noise = np.random.default_rng(seed).normal(size=vertices.shape)
        vertices = vertices * (1 + ROUNDING * noise)
    mesh = in_single(vertices), triangles
    return shapes.solve(mesh, bones, **SETTINGS[settings]).weights


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("figure", FIGURES)
def test_rounding_of_an_exact_figure_moves_no_weight(figure, settings):
    one = weights_of(figure, settings)
    moved = [np.abs(weights_of(figure, settings, seed) - one).max() for seed in SEEDS]
    assert max(moved) < 1e-4, moved


def star():
    """A ball with four bones from its center that end in vertices of its surface."""
    vertices, triangles = shapes.sphere(9, 16, 1.0)
    ends = [vertices[np.abs(vertices - way).sum(1).argmin()] for way in np.eye(3)[[0, 1]]]
    tails = np.array([(0, 0, 0), *ends, *(-np.array(ends))])
    heads = np.array([(0, 0, -0.5), *np.zeros((4, 3))])
    bones = shapes.Bones(
        heads, tails, np.array([-1, 0, 0, 0, 0]), roll_axes=np.tile([0.1, 0.2, 1.0], (5, 1))
    )
    return (vertices, triangles), bones


def test_vertices_between_two_bones_that_end_in_the_skin(rng):
    """The vertices are equally far from both bones, and rounding used to decide which bone heat
    chose. Rays along the surface to a bone that ends in it met a face shortly before the end, or
    did not."""
    (vertices, triangles), bones = star()
    initial = shapes.solver((vertices, triangles), bones).initial_weights
    for _ in range(6):
        near = vertices + rng.uniform(-1e-8, 1e-8, vertices.shape)
        again = shapes.solver((near, triangles), bones).initial_weights
        np.testing.assert_allclose(again, initial, atol=1e-6)


def hips():
    """A tube around two legs side by side, whose middle is equally far from both, and a third
    bone."""
    vertices, triangles = shapes.tube(12, 33, 0.5, 2.0, caps=True)
    heads = np.array([[-0.25, 0, 0.1], [0.25, 0, 0.1], [0, 0, 1.2]])
    tails = np.array([[-0.25, 0, 1.1], [0.25, 0, 1.1], vertices[np.argmax(vertices[:, 2])]])
    return (vertices, triangles), shapes.Bones(heads, tails, np.array([-1, -1, 0]))


def moved(mesh, seed):
    noise = np.random.default_rng(seed).normal(size=mesh[0].shape)
    return mesh[0] + 1e-9 * noise, mesh[1]


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
