"""Locked vertices and bones: locked weights stay unchanged, and the other bones share the
remainder."""

import araplbs
import numpy as np
import pytest
import shapes
from shapes import solve


@pytest.fixture
def problem(rng):
    mesh, bones = shapes.tube(8, 13), shapes.chain(4)
    weights = shapes.random_weights(rng, len(mesh[0]), 4, empty=0.5)
    return mesh, bones, weights


def check_rows(weights, sums=1.0):
    assert np.isfinite(weights).all()
    assert weights.min() >= 0
    np.testing.assert_allclose(weights.sum(1), sums, atol=1e-12)


@pytest.mark.parametrize("start", [False, True], ids=["heat", "given start"])
@pytest.mark.parametrize("limit", [0, 2, 4])
def test_locked_vertices(problem, start, limit, rng):
    mesh, bones, weights = problem
    locked = rng.uniform(size=len(weights)) < 0.4
    solver = solve(
        mesh,
        bones,
        weights=weights,
        locked_vertices=locked,
        max_influences=limit,
        start_from_weights=start,
    )
    np.testing.assert_array_equal(solver.weights[locked], weights[locked])
    check_rows(solver.weights)
    assert np.abs(solver.weights[~locked] - weights[~locked]).max() > 0.1
    if limit:
        assert ((solver.weights > 0).sum(1)[~locked] <= limit).all()


@pytest.mark.parametrize("bone_spring_stiffness", [0.0, 12.0])
@pytest.mark.parametrize("threads", [1, 3])
def test_only_rings_whose_weights_have_changed_are_visited(bone_spring_stiffness, threads, rng):
    """The energy still includes the contributions of all rings."""
    mesh, bones = shapes.tube(12, 40), shapes.chain(4)
    n = len(mesh[0])
    weights, locked = shapes.random_weights(rng, n, 4), mesh[0][:, 2] < 1.2
    solver = shapes.solver(
        mesh, bones,  weights=weights, locked_vertices=locked, expansion_rounds=0,
        start_from_weights=True, max_influences=0, acceleration=0, tolerance=0, coarsen=0,
        bone_spring_stiffness=bone_spring_stiffness, section=0, precision="double", threads=threads,
    )  # fmt: skip
    beside = np.eye(n, dtype=bool)
    for a, b, c in mesh[1]:
        beside[[a, a, b, b, c, c], [b, c, a, c, a, b]] = True
    before, visits = solver.raw_weights, solver._inside["visits"]
    assert visits == n
    for _ in range(3):
        energy = solver.iterate(1)
        now = solver.raw_weights
        changed = (now != before).any(1)
        expected = beside[:, changed].any(1).sum()
        assert 0 < expected < 0.6 * n
        assert solver._inside["visits"] - visits == expected
        before, visits = now, solver._inside["visits"]
    again = shapes.solver(
        mesh, bones,  weights=now, start_from_weights=True, expansion_rounds=0,
        max_influences=0, coarsen=0, bone_spring_stiffness=bone_spring_stiffness, section=0,
        precision="double",
    )  # fmt: skip
    assert energy == pytest.approx(again.energies[0], rel=1e-9)


def test_free_vertices_follow_the_locked_ones(problem):
    """The locked rows are part of the energy, so the solution differs from a solution without
    locks."""
    mesh, bones, _ = problem
    weights = np.zeros((len(mesh[0]), 4))
    weights[:, 3] = 1
    middle = np.abs(mesh[0][:, 2] - 1) < 0.2
    locked = solve(mesh, bones, weights=weights, locked_vertices=middle, max_influences=0)
    free = solve(mesh, bones, max_influences=0)
    beside = ~middle & (np.abs(mesh[0][:, 2] - 1) < 0.4)
    assert locked.weights[beside, 3].mean() > free.weights[beside, 3].mean() + 0.02


@pytest.mark.parametrize("limit", [0, 2, 4])
def test_locked_bones(problem, limit):
    mesh, bones, weights = problem
    weights = weights * 0.8
    locked = np.array([False, True, False, True])
    solver = solve(mesh, bones, weights=weights, locked_bones=locked, max_influences=limit)
    np.testing.assert_array_equal(solver.weights[:, locked], weights[:, locked])
    check_rows(solver.weights)
    if limit:
        given = (weights[:, locked] > 0).sum(1)
        assert ((solver.weights > 0).sum(1) <= np.maximum(limit, given + 1)).all()


def test_locked_sums_of_one_and_more(problem):
    """Nothing is left to share: only the locked weights are returned, with any sum."""
    mesh, bones, _ = problem
    weights = np.zeros((len(mesh[0]), 4))
    weights[:, 1] = np.linspace(0, 2, len(weights))
    solver = solve(mesh, bones, weights=weights, locked_bones=[False, True, False, False])
    np.testing.assert_array_equal(solver.weights[:, 1], weights[:, 1])
    check_rows(solver.weights, np.maximum(weights[:, 1], 1))


def test_a_bone_locked_without_weights_gets_none(problem):
    mesh, bones, weights = problem
    weights[:, 2] = 0
    solver = solve(mesh, bones, weights=weights, locked_bones=[False, False, True, False])
    assert not solver.weights[:, 2].any()
    assert solver.report["idle_bones"] == [2]
    check_rows(solver.weights)


def test_locked_vertices_without_weights_stay_empty_and_others_need_not_sum_to_one(problem):
    mesh, bones, weights = problem
    weights[3] = 0
    weights[4] *= 0.5
    weights[5] *= 3
    locked = np.zeros(len(weights), bool)
    locked[3:6] = True
    solver = solve(mesh, bones, weights=weights, locked_vertices=locked)
    np.testing.assert_array_equal(solver.weights[3:6], weights[3:6])
    check_rows(solver.weights[~locked])


def test_sets_of_vertices_with_locks_of_their_own(problem):
    """Two meshes of one armature, each with its own locked groups."""
    mesh, bones, weights = problem
    weights = weights * 0.9
    sets = (mesh[0][:, 2] > 1).astype(int)
    locked = np.array([[True, False, False, False], [False, False, True, True]])
    solver = solve(mesh, bones, weights=weights, locked_bones=locked, vertex_sets=sets)
    held = locked[sets]
    np.testing.assert_array_equal(solver.weights[held], weights[held])
    assert np.abs(solver.weights - weights)[~held].max() > 0.1
    check_rows(solver.weights)


def test_one_set_is_the_same_as_none(problem):
    mesh, bones, weights = problem
    locked = np.array([True, False, False, True])
    more = {"weights": weights * 0.7}
    one = solve(mesh, bones, locked_bones=locked, **more)
    sets = np.zeros(len(weights), int)
    other = solve(mesh, bones, locked_bones=locked[None], vertex_sets=sets, **more)
    np.testing.assert_array_equal(one.weights, other.weights)


def test_welded_vertices_share_their_locks(problem, rng):
    """One of two coincident vertices is locked, and both get its weights."""
    (vertices, triangles), bones, weights = problem
    doubled = np.concatenate([vertices, vertices])
    faces = np.concatenate([triangles[::2], triangles[1::2] + len(vertices)])
    locked = np.zeros(len(doubled), bool)
    locked[10:20] = True  # the first of a pair
    locked[len(vertices) + 40 : len(vertices) + 50] = True  # the second of a pair
    given = np.concatenate([weights, shapes.random_weights(rng, *weights.shape)])
    solver = solve((doubled, faces), bones, weights=given, locked_vertices=locked)
    result = solver.weights
    np.testing.assert_array_equal(result[locked], given[locked])
    first, second = result[: len(vertices)], result[len(vertices) :]
    np.testing.assert_allclose(first, second, atol=1e-15)
    check_rows(result)


def test_welded_vertices_of_sets_with_different_locks(problem):
    """A lock of one of them locks both: the other one gets the same weight."""
    (vertices, triangles), bones, weights = problem
    n = len(vertices)
    doubled, faces = (
        np.concatenate([vertices, vertices]),
        np.concatenate([triangles, triangles + n]),
    )
    given = np.concatenate([weights, np.zeros_like(weights)])
    given[:n, 0] = 0.3
    given[n:, 3] = 0.2
    locked = np.array([[True, False, False, False], [False, False, False, True]])
    solver = solve(
        (doubled, faces),
        bones,
        weights=given,
        locked_bones=locked,
        vertex_sets=np.repeat([0, 1], n),
    )
    result = solver.weights
    np.testing.assert_array_equal(result[:n, 0], 0.3)
    np.testing.assert_array_equal(result[n:, 3], 0.2)
    np.testing.assert_allclose(result[:n], result[n:], atol=1e-12)
    check_rows(result)


def test_locked_bones_that_do_not_deform_change_nothing(problem):
    mesh, bones, weights = problem
    bones.deform = np.array([True, True, False, True])
    plain = solve(mesh, bones)
    locked = solve(mesh, bones, weights=weights, locked_bones=[False, False, True, False])
    np.testing.assert_allclose(plain.weights, locked.weights, atol=1e-6)


def test_start_from_weights_keeps_their_pattern(problem):
    """The pattern is that of the weights, including explicit zeros, without a limit."""
    mesh, bones, weights = problem
    mask = weights > 0
    mask[:, 1] = True
    rows = shapes.rows(mask, weights)
    solver = shapes.solver(
        mesh,
        bones,
        weights=rows,
        start_from_weights=True,
        max_influences=0,
        expansion_rounds=0,
    )
    np.testing.assert_allclose(solver.initial_weights, weights, atol=1e-15)
    assert solver._inside["bone"].tolist() == rows[1].tolist()
    solver.solve()
    assert not solver.weights[~mask].any()
    assert (solver.weights[weights == 0] > 0).any()


def test_start_from_weights_with_locked_vertices_that_have_none(problem):
    """Locked vertices without weights are solved like the others and returned empty."""
    mesh, bones, weights = problem
    weights = weights.copy()
    locked = np.arange(len(mesh[0])) % 5 == 2
    weights[locked] = 0
    solver = shapes.solve(
        mesh,
        bones,
        weights=weights,
        start_from_weights=True,
        locked_vertices=locked,
    )
    assert not solver.weights[locked].any()
    np.testing.assert_allclose(solver.weights[~locked].sum(1), 1, atol=1e-12)


def test_start_from_weights_where_some_vertices_have_none(problem):
    """Only these vertices start from new weights, whether their rows are empty, zero or of bones
    that do not deform."""
    mesh, bones, weights = problem
    fresh = shapes.solver(mesh, bones).initial_weights
    empty = np.arange(len(mesh[0])) % 5 == 2
    weights = np.where(empty[:, None], 0, weights)
    mask = weights > 0
    for shown in (mask, mask | empty[:, None]):
        rows = shapes.rows(shown, weights)
        given = {"weights": rows, "start_from_weights": True}
        solver = shapes.solver(mesh, bones, **given)
        begun = solver.initial_weights
        np.testing.assert_allclose(begun[empty], fresh[empty], atol=1e-12)
        np.testing.assert_allclose(begun[~empty], weights[~empty], atol=1e-12)
        assert not solver.report["unseen_parts"]
        solver.solve()
        np.testing.assert_allclose(solver.weights.sum(1), 1, atol=1e-12)


def test_start_from_weights_with_those_of_another_welded_vertex(problem):
    (vertices, triangles), bones, weights = problem
    split, apart = shapes.split(vertices, triangles)
    given = weights[triangles.ravel()]
    first = np.unique(triangles.ravel(), return_index=True)[1]
    given[first] = 0
    solver = araplbs.Solver(
        split, apart, *bones, **bones.more, weights=given, start_from_weights=True
    )
    np.testing.assert_allclose(solver.initial_weights, weights[triangles.ravel()], atol=1e-12)


@pytest.mark.parametrize("limit", [0, 2])
def test_what_rounding_leaves_is_no_influence(problem, limit, rng):
    """Locked weights that sum to 1 except for rounding leave nothing to the free bone."""
    mesh, bones, _ = problem
    weights = shapes.random_weights(rng, len(mesh[0]), 4)
    weights[:, 3] = 0
    weights = (weights / weights.sum(1, keepdims=True)).astype(np.float32).astype(float)
    sums = weights.sum(1)
    assert (sums < 1).any() and np.abs(sums - 1).max() < 1e-6
    lock = np.array([True, True, True, False])
    solver = solve(mesh, bones, weights=weights, locked_bones=lock, max_influences=limit)
    np.testing.assert_array_equal(solver.weights, weights)
    weights[5] *= 0.9
    solver = solve(mesh, bones, weights=weights, locked_bones=lock, max_influences=limit)
    assert solver.weights[5, 3] == pytest.approx(0.1, abs=1e-6)


def test_initial_rows(problem):
    """The same weights can be given as rows or as a dense array, with locked weights between
    others."""
    mesh, bones, weights = problem
    lock = np.array([False, True, False, True])
    solver = araplbs.Solver(*mesh, *bones, weights=weights, locked_bones=lock)
    start, bone, _weight = rows = solver.sparse_initial_weights
    vertex, dense = np.repeat(np.arange(len(weights)), np.diff(start)), shapes.dense(rows, 4)
    np.testing.assert_array_equal(dense, solver.initial_weights)
    assert (np.diff(vertex * len(lock) + bone) > 0).all()
    assert (dense[:, lock] > 0).any() and (dense[:, ~lock] > 0).any()
