"""The same problem in other units, or rotated, moved, mirrored or shuffled, has the same solution,
and bit-identical results for any number of threads."""

from copy import copy
from functools import cache

import araplbs
import numpy as np
import pytest
import shapes
from shared_data import Character

CHARACTERS = ["q_cat_wire", "webxr_hand", "knight"]
TURN = shapes.rotation([1, -2, 0.5], 2.1)
MIRROR = np.diag([-1.0, 1, 1])
MOVES = {
    "a thousandth": (0.001 * np.eye(3), (0, 0, 0)),
    "a thousand times": (1000 * np.eye(3), (0, 0, 0)),
    "turned": (TURN, (0, 0, 0)),
    "moved": (np.eye(3), (100, -70, 30)),
    "mirrored": (MIRROR, (0, 0, 0)),
    "all at once": (0.01 * TURN @ MIRROR, (3, 1, -2)),
}


class Problem:
    def __init__(self, vertices, triangles, bones, edges=None):
        self.vertices, self.triangles, self.bones = vertices, triangles, bones
        self.edges = edges

    def moved(self, matrix, offset):
        flip = np.linalg.det(matrix) < 0
        return Problem(
            self.vertices @ matrix.T + offset,
            self.triangles[:, ::-1] if flip else self.triangles,
            self.bones.moved(matrix, offset),
            self.edges,
        )

    def solver(self, **settings):
        return araplbs.Solver(
            self.vertices,
            self.triangles,
            *self.bones,
            **self.bones.more,
            edges=self.edges,
            **settings,
        )

    def weights(self, **settings):
        """In double precision, because the choice of influences can depend on the last bits of
        single precision."""
        solver = shapes.solved(self.solver(precision="double", **settings))
        return solver.weights


def generated():
    """Two arms and a loose part, without any symmetry."""
    rng = np.random.default_rng(8)
    body = shapes.tube(10, 31, 0.25, 1.9, caps=True)
    arm = shapes.tube(8, 17, 0.12, 1.3)
    arm = arm[0] @ shapes.rotation([0, 1, 0], np.pi / 2).T + [0.15, 0, 1.8], arm[1]
    knob = shapes.sphere(4, 6, 0.07, (0.33, 0.02, 1.1))
    vertices, triangles = shapes.join(body, arm, knob)
    vertices = vertices + rng.normal(size=vertices.shape) * 0.005
    return Problem(vertices, triangles, shapes.tree())


@cache
def problem(name):
    if name == "generated":
        return generated()
    c = Character(name)
    return Problem(c.vertices, c.triangles, c.bones, c.edges)


@cache
def weights_of(name, limit):
    """The weights, solved once for all transformed problems."""
    return problem(name).weights(max_influences=limit)


names = pytest.mark.parametrize("name", ["generated", *CHARACTERS])


@names
@pytest.mark.parametrize("move", MOVES)
def test_moved_problems_have_the_same_weights(name, move):
    other = problem(name).moved(*MOVES[move])
    for limit in (0, 4):
        difference = np.abs(other.weights(max_influences=limit) - weights_of(name, limit))
        assert difference.max() < 1e-4


@names
def test_a_mirrored_character_is_mirrored_without_roll_axes_too(name):
    """If the skeleton has no roll axes, mirrored ones are chosen."""
    one = copy(problem(name))
    one.bones = one.bones.but(roll_axes=None)
    other = one.moved(*MOVES["all at once"])
    assert np.abs(other.weights() - one.weights()).max() < 1e-4


@names
def test_order_of_vertices_triangles_and_corners(name, rng):
    one = problem(name)
    order = rng.permutation(len(one.vertices))
    place = np.argsort(order)
    triangles = place[one.triangles[rng.permutation(len(one.triangles))]]
    triangles = np.take_along_axis(
        triangles, (np.arange(3) + rng.integers(0, 3, (len(triangles), 1))) % 3, axis=1
    )
    edges = None if one.edges is None else place[one.edges[::-1, ::-1]]
    other = Problem(one.vertices[order], triangles, one.bones, edges)
    for limit in (0, 4):
        settings = {"max_influences": limit, "coarsen": 0}
        difference = np.abs(other.weights(**settings) - one.weights(**settings)[order])
        assert difference.max() < 1e-4
    # Which vertices a coarse mesh joins depends on their order; how good the weights are does not.
    solvers = [p.solver() for p in (one, other)]
    assert solvers[0].solve() == pytest.approx(solvers[1].solve(), rel=0.5)


@names
@pytest.mark.parametrize("precision", ["single", "double"])
def test_the_same_bits_on_any_number_of_threads(name, precision):
    one = problem(name)
    results = []
    for threads in (1, 5):
        solver = shapes.solved(one.solver(threads=threads, precision=precision))
        results.append((solver.weights, solver.energies, solver.energy, solver.initial_weights))
    for x, y in zip(*results, strict=True):
        np.testing.assert_array_equal(x, y)


@names
def test_precision(name):
    one = problem(name)
    single, double = (one.solver(precision=p) for p in ("single", "double"))
    assert single.energies[0] == pytest.approx(double.energies[0], rel=1e-5)
    single.solve(), double.solve()
    assert single.energy == pytest.approx(double.energy, rel=1e-3)
    # The energy of the very same weights, in either precision.
    bones = one.bones
    again = [
        one.solver(precision=p, weights=double.weights, start_from_weights=True).energies[0]
        for p in ("single", "double")
    ]
    # Relative energies: single precision counts relative to the energy at rest, which is 1.
    assert again[0] == pytest.approx(again[1], rel=1e-5, abs=1e-7)
    assert len(bones) > 1


def test_another_seed_is_another_problem():
    one = generated()
    assert np.abs(one.weights(seed=1) - one.weights(seed=2)).max() > 1e-4
