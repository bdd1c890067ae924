"""Rows of hundreds of influences, which are multiplied by the poses (csrc/energy/wide_products.c),
and factors so dense that their products are divided into pieces
(csrc/linalg/supernode_numbers.h)."""

import araplbs
import numpy as np
import pytest
import shapes

BONES = 260  # of which a row is wide with up to 2 / 3 as many poses


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def chain():
    return shapes.chain(BONES)


def all_bones(rng, count):
    """Rows with every bone, most of them with small weights."""
    weights = rng.random((count, BONES)) ** 8 + 1e-6
    return weights / weights.sum(1, keepdims=True)


def test_the_energy_is_that_of_pairs_of_bones(rng):
    """Repeated poses give the same energy, and are too many for the other method."""
    mesh = shapes.tube(8, 12)
    weights = all_bones(rng, len(mesh[0]))
    poses = araplbs.sample_poses(*chain(), 20)
    many = np.tile(poses, (10, 1, 1, 1))
    energy = araplbs.energy(*mesh, weights, many)
    assert energy > 0.01
    assert araplbs.energy(*mesh, weights, poses) == pytest.approx(energy, rel=1e-11)


def test_some_rows_are_wide(rng):
    mesh = shapes.tube(8, 12)
    weights = all_bones(rng, len(mesh[0]))
    weights[::3, 5:] = 0
    weights[::3, :5] += 0.1
    poses = araplbs.sample_poses(*chain(), 20)
    few, many = (araplbs.energy(*mesh, weights, p) for p in (poses, np.tile(poses, (10, 1, 1, 1))))
    assert few == pytest.approx(many, rel=1e-11)


def first_maps(rng, poses, **settings):
    mesh = shapes.tube(8, 12)
    weights = all_bones(rng, len(mesh[0]))
    options = {"pose_count": 0, "start_from_weights": True, "coarsen": 0, "expansion_rounds": 0}
    solver = araplbs.Solver(
        *mesh, *chain(), poses=poses, weights=weights, precision="double", **options, **settings
    )
    solver.iterate(1)
    return solver


@pytest.mark.parametrize("settings", [{}, {"bone_spring_stiffness": 0}, {"max_influences": 2}])
def test_the_limit_keeps_the_same_influences(settings):
    poses = araplbs.sample_poses(*chain(), 20)
    few, many = (
        first_maps(np.random.default_rng(1), p, **settings)
        for p in (poses, np.tile(poses, (10, 1, 1, 1)))
    )
    limit = settings.get("max_influences", 4)
    assert (few.weights > 0).sum(1).max() <= limit
    np.testing.assert_allclose(few.weights, many.weights, atol=1e-6)


@pytest.mark.parametrize("threads", [2, 5])
def test_threads_change_no_bit(threads):
    poses = araplbs.sample_poses(*chain(), 20)
    one, more = (first_maps(np.random.default_rng(1), poses, threads=n) for n in (1, threads))
    np.testing.assert_array_equal(one.weights, more.weights)
    np.testing.assert_array_equal(one.energies, more.energies)


@pytest.fixture(scope="module")
def dense():
    """Some 1,500 unknowns, all of which Smooth couples."""

    def solve(**settings):
        mesh, bones = shapes.disc(64), shapes.chain(24)
        weights = np.random.default_rng(2).dirichlet(np.ones(24), len(mesh[0]))
        smoothed = np.arange(len(mesh[0])), np.ones(len(mesh[0]))
        return shapes.solve(
            mesh, bones, weights=weights, smoothed=smoothed, start_from_weights=True,
            max_influences=0, pose_count=12, iterations=2, expansion_rounds=0, coarsen=0, **settings
        )  # fmt: skip

    return solve


def test_a_dense_factor_is_the_same_in_both_precisions(dense):
    single, double = dense(precision="single"), dense(precision="double")
    assert single.report["factor_flops"] > 1e9
    assert single.report["factor_bytes"] == double.report["factor_bytes"] / 2
    np.testing.assert_allclose(single.weights, double.weights, atol=2e-5)


def test_a_dense_factor_has_the_same_bits_on_more_threads(dense):
    np.testing.assert_array_equal(dense(threads=1).weights, dense(threads=3).weights)
