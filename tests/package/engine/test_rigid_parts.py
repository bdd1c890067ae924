"""Parts whose vertices have the same weights: the system compared with dense sums, bit-identical
results, limits, symmetry, levels, locks and edits. test_rigid_search.py tests how they are
found."""

import araplbs
import numpy as np
import pytest
import shapes
from refusals import GOOD, MESH, N, changed, refuse
from test_symmetry import BONES as TWO_ARMS
from test_symmetry import PARTNERS, PLANE, body

BONES = shapes.chain(3)
TUBE = shapes.tube(10, 13)
PLAIN = {"expansion_rounds": 0, "max_influences": 0, "rigid_influences": 0, "positivity": "none"}


def band(vertices, low, high):
    """Labels of one part: the vertices between two heights."""
    return np.where((vertices[:, 2] > low) & (vertices[:, 2] < high), 7, -1)


def make(mesh=TUBE, bones=BONES, **settings):
    settings = {"precision": "double", "pose_count": 20, **settings}
    return shapes.solver(mesh, bones, **settings)


def solved(*args, **settings):
    return shapes.solved(make(*args, **settings))


def check(solver, labels, limit=None):
    """Checks that the rows of a label are bit-identical and are weights; returns one row per
    label."""
    weights = solver.weights
    np.testing.assert_allclose(weights.sum(1), 1, atol=1e-12)
    assert (weights >= 0).all()
    rows = []
    for label in np.unique(labels[labels >= 0]):
        own = weights[labels == label]
        assert (own == own[0]).all()
        assert len(np.unique(solver.rigid_parts[labels == label])) == 1
        rows.append(own[0])
    if limit:
        assert (np.array(rows) > 0).sum(1).max() <= limit
    return np.array(rows)


def matrix(inside, name):
    """The dense symmetric matrix of the global step."""
    size = len(inside["column"]) - 1
    columns = np.repeat(np.arange(size), np.diff(inside["column"]))
    dense = np.zeros((size, size))
    dense[inside["row"], columns] = inside[name]
    return dense + np.tril(dense, -1).T


def keys(inside, numbers):
    """(vertex or part, bone) of each unknown."""
    owner = np.repeat(np.arange(len(inside["start"]) - 1), np.diff(inside["start"]))
    entry = inside["entry"]
    return [(numbers[v], b) for v, b in zip(owner[entry], inside["bone"][entry], strict=True)]


@pytest.mark.parametrize("harmonic", [0, 0.05])
def test_the_global_step_is_that_of_summed_unknowns(rng, harmonic):
    """P'AP and P'b of the solver without parts, which other tests compare with dense sums."""
    vertices = TUBE[0]
    labels = np.where(vertices[:, 2] > 1.2, 0, band(vertices, 0.2, 0.7))
    numbers = np.where(labels < 0, 100 + np.arange(len(labels)), labels)
    rows = shapes.random_weights(rng, 3, 3)
    weights = shapes.random_weights(rng, len(vertices), 3)
    weights[labels == 0], weights[labels == 7] = rows[0], rows[1]
    given = {"weights": weights, "start_from_weights": True, "acceleration": 0, "damping": 1e-4}
    settings = {**PLAIN, **given, "harmonic": harmonic}
    free, parts = make(**settings), make(**settings, rigid_parts=labels)
    np.testing.assert_allclose(parts.initial_weights, weights, atol=1e-14)
    before = free._inside
    free.iterate(1)
    parts.iterate(1)
    system, own = free._inside, parts._inside
    wanted = keys(own, numbers)
    assert len(set(wanted)) == len(wanted) < len(keys(system, numbers))
    sums = np.zeros((len(system["entry"]), len(wanted)))
    for unknown, key in enumerate(keys(system, numbers)):
        sums[unknown, wanted.index(key)] = 1
    for name in ("value", "penalized"):
        expected = sums.T @ matrix(system, name) @ sums
        np.testing.assert_allclose(
            matrix(own, name), expected, rtol=1e-9, atol=1e-12 * abs(expected).max()
        )
    slope = before["right_side"] - before["product"]
    reduced = sums.T @ (slope[system["entry"]] - slope[system["balance"]])
    step = np.linalg.solve(matrix(own, "penalized"), reduced)
    expected = weights.copy()
    for (number, bone), balance, x in zip(wanted, own["balance"], step, strict=True):
        expected[numbers == number, bone] += x
        expected[numbers == number, own["bone"][balance]] -= x
    np.testing.assert_allclose(parts.raw_weights, expected, atol=1e-8)


def test_no_parts_are_as_none():
    plain = solved()
    for nothing in (None, np.full(len(TUBE[0]), -1), np.where(np.arange(len(TUBE[0])) == 3, 0, -1)):
        solver = solved(rigid_parts=nothing)
        assert (solver.weights == plain.weights).all()
        assert (solver.rigid_parts == -1).all() and solver.report["rigid_parts"] == 0


@pytest.mark.parametrize("rigid_influences", [0, 1, 2])
@pytest.mark.parametrize("max_influences", [0, 1, 2, 4])
@pytest.mark.parametrize("settings", [{}, {"filter": "all"}, {"positivity": "penalty"}], ids=str)
def test_rows_are_the_same_to_the_bit(rigid_influences, max_influences, settings):
    labels = band(TUBE[0], 0.5, 1.0)
    solver = make(
        rigid_parts=labels,
        rigid_influences=rigid_influences,
        max_influences=max_influences,
        **settings,
    )
    while not solver.done:
        check(solver, labels)
        solver.iterate()
    limits = [limit for limit in (rigid_influences, max_influences) if limit]
    check(solver, labels, min(limits, default=None))
    assert solver.report["rigid_parts"] == 1
    assert np.ptp(solver.weights[labels < 0], axis=0).max() > 0.5


def test_the_one_bone_is_the_best():
    """No other bone leaves less energy."""
    labels = band(TUBE[0], 1.1, 1.9)
    row = check(solver := solved(rigid_parts=labels), labels, 1)[0]
    others = []
    for bone in range(3):
        locked, weights = labels >= 0, np.zeros((len(labels), 3))
        weights[:, bone] = 1
        others.append(solved(locked_vertices=locked, weights=weights).energy)
    assert row.argmax() == np.argmin(others)
    assert solver.energy < 1.1 * min(others)


def test_a_blend_is_at_least_as_good_as_one_bone():
    labels = band(TUBE[0], 0.9, 1.7)
    one = solved(rigid_parts=labels)
    blend = solved(rigid_parts=labels, rigid_influences=0)
    assert (blend.weights[labels >= 0][0] > 0).sum() > 1
    assert blend.energy <= 1.001 * one.energy


@pytest.mark.parametrize("rigid_influences", [0, 1])
def test_symmetric_parts(rigid_influences):
    """A part marked on one side is one on both. One on the plane is its own image."""
    mesh, partner = body()
    x, z = mesh[0][:, 0], mesh[0][:, 2]
    labels = np.where(x > 0.6, 0, np.where(z > 1.7, 1, -1))
    solver = make(
        mesh,
        TWO_ARMS,
        rigid_parts=labels,
        rigid_influences=rigid_influences,
        symmetry=(PARTNERS, *PLANE),
    )
    solver.solve()
    check(solver, np.where(x < -0.6, 2, labels), rigid_influences)
    weights = solver.weights
    np.testing.assert_array_equal(weights[partner][:, PARTNERS], weights)
    assert solver.report["rigid_parts"] == 3


def test_a_part_across_the_plane_that_one_bone_moves():
    """A bone that is its own image exists only on the plane. Otherwise, the part is not
    symmetric."""
    mesh, _partner = body()
    labels = np.where(np.abs(mesh[0][:, 0]) > 1.2, 0, -1)  # both hands
    solver = shapes.solved(make(mesh, TWO_ARMS, rigid_parts=labels, symmetry=(PARTNERS, *PLANE)))
    check(solver, labels, 1)


def test_coarser_meshes():
    mesh = shapes.tube(24, 61)
    labels = np.where(band(mesh[0], 0.2, 0.5) >= 0, 3, band(mesh[0], 1.1, 1.6))
    solver = make(mesh, rigid_parts=labels, coarsen=300)
    assert solver.report["coarse_vertices"] > 0
    while not solver.done:
        check(solver, labels)
        solver.iterate()
    check(solver, labels, 1)
    plain = solved(mesh, rigid_parts=labels, coarsen=0)
    assert np.abs(solver.weights - plain.weights).mean() < 0.03


def test_later_edits_of_a_coarse_solve():
    mesh = shapes.tube(24, 61)
    labels = band(mesh[0], 1.1, 1.6)
    solver = make(mesh, coarsen=300)
    solver.iterate()
    solver.edit(rigid_parts=labels)
    check(solver, labels)
    solver.solve()
    check(solver, labels, 1)


def test_edits_come_and_go():
    labels = band(TUBE[0], 0.9, 1.7)
    solver = solved(rigid_influences=0)
    free = solver.weights
    solver.edit(rigid_parts=labels)
    assert not solver.done and solver.report["rigid_parts"] == 1
    check(solver, labels)
    solver.solve()
    check(solver, labels)
    solver.edit()
    solver.solve()
    assert (solver.rigid_parts == -1).all()
    np.testing.assert_allclose(solver.weights, free, atol=0.15)


def test_edits_of_one_vertex_are_those_of_its_part():
    labels = band(TUBE[0], 0.9, 1.7)
    vertex = int(np.flatnonzero(labels >= 0)[5])
    solver = solved(rigid_parts=labels)
    bone = int(check(solver, labels)[0].argmax())
    for settings in ({}, {"rigid_influences": 0}):
        forbidden = ([vertex], [bone], [False])
        solver = solved(rigid_parts=labels, influences=forbidden, **settings)
        assert check(solver, labels)[0][bone] == 0
    wanted = ([vertex], [(bone + 1) % 3], [0.5])
    solver = solved(
        rigid_parts=labels, rigid_influences=0, constraints=wanted, constraint_strength=1e6
    )
    assert check(solver, labels)[0][(bone + 1) % 3] == pytest.approx(0.5, abs=0.01)


def test_locked_vertices_stay_and_are_of_no_part(rng):
    labels = band(TUBE[0], 0.5, 1.5)
    weights = shapes.random_weights(rng, len(labels), 3)
    locked = rng.uniform(size=len(labels)) < 0.2
    locked[np.flatnonzero(labels >= 0)[0]] = True
    solver = solved(rigid_parts=labels, weights=weights, locked_vertices=locked)
    np.testing.assert_array_equal(solver.weights[locked], weights[locked])
    check(solver, np.where(locked, -1, labels), 1)
    assert (solver.rigid_parts[locked] == -1).all()


def test_locked_bones(rng):
    """A vertex belongs to the part if its locked weights are the same numbers."""
    labels = band(TUBE[0], 0.5, 1.5)
    weights = np.zeros((len(labels), 3))
    weights[labels >= 0, 1] = 0.25
    odd = np.flatnonzero(labels >= 0)[3::7]
    weights[odd, 1] = 0.5
    for rigid_influences in (0, 2):
        solver = solved(
            rigid_parts=labels,
            weights=weights,
            locked_bones=[False, True, False],
            rigid_influences=rigid_influences,
        )
        np.testing.assert_array_equal(solver.weights[:, 1], weights[:, 1])
        labels[odd] = -1
        check(solver, labels, rigid_influences)


def test_locks_of_images_and_of_welded_vertices(rng):
    """A vertex also belongs to no part if its image, or a vertex welded to it, is locked."""
    mesh, partner = body()
    labels = np.where(mesh[0][:, 0] > 0.6, 0, -1)
    weights = shapes.random_weights(rng, len(labels), 6)
    locked = np.zeros(len(labels), bool)
    locked[partner[np.flatnonzero(labels == 0)[::3]]] = True
    given = {"weights": weights, "locked_vertices": locked, "rigid_parts": labels}
    solver = shapes.solved(make(mesh, TWO_ARMS, symmetry=(PARTNERS, *PLANE), **given))
    np.testing.assert_array_equal(solver.weights[locked], weights[locked])
    check(solver, np.where(locked, -1, solver.rigid_parts), 1)
    assert (solver.rigid_parts[locked] == -1).all()

    count = len(TUBE[0])
    labels = np.concatenate([band(TUBE[0], 0.5, 1.5), np.full(count, -1)])
    weights = shapes.random_weights(rng, 2 * count, 3)
    locked = np.zeros(2 * count, bool)
    locked[count + np.flatnonzero(labels >= 0)[::3]] = True  # of the copy in the same place
    given = {"weights": weights, "locked_vertices": locked, "rigid_parts": labels}
    solver = solved(shapes.join(TUBE, TUBE), **given)
    np.testing.assert_array_equal(solver.weights[locked], weights[locked])
    check(solver, np.where(solver.rigid_parts < 0, -1, labels), 1)
    assert (solver.rigid_parts[locked] == -1).all() and solver.report["rigid_parts"] == 1


def test_parts_that_share_a_welded_vertex_are_one():
    mesh = shapes.join(TUBE, (TUBE[0] + [0, 0, np.ptp(TUBE[0][:, 2])], TUBE[1]))
    count = len(TUBE[0])
    solver = make(mesh, rigid_parts=np.repeat([0, 1], count))
    assert solver.report["welded"] > 0
    solver.solve()
    check(solver, np.zeros(2 * count, int), 1)


def test_all_in_one_part():
    check(solved(rigid_parts=np.zeros(len(TUBE[0]), int)), np.zeros(len(TUBE[0]), int), 1)


LABELS = np.zeros(N, int)
BAD = [
    (ValueError, r"rigid_parts\[4\] is -2", changed(LABELS, 4, -2)),
    (ValueError, "rigid_parts has shape", LABELS[:-1]),
    (ValueError, "rigid_parts has shape", LABELS[:, None]),
    (TypeError, "rigid_parts", LABELS + 0.5),
    (ValueError, "rigid_parts contains 2147483648", changed(LABELS, 0, 2**31)),
]


@pytest.mark.parametrize(("kind", "pattern", "labels"), BAD, ids=[b[1][:30] for b in BAD])
def test_bad_labels(kind, pattern, labels):
    refuse(kind, pattern, araplbs.Solver, **GOOD, rigid_parts=labels)


@pytest.mark.parametrize(
    ("kind", "pattern", "labels"),
    [BAD[0], (ValueError, "rigid_parts has 29 entries, expected 30", LABELS[:-1])],
)
def test_bad_labels_of_an_edit(kind, pattern, labels):
    solver = araplbs.Solver(**GOOD)
    before = solver.weights
    refuse(kind, pattern, solver.edit, rigid_parts=labels)
    assert (solver.weights == before).all() and len(MESH[0]) == N
    solver.solve()
