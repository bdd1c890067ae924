"""Penalty rows: the user's constraints, attach, Neumann, positivity, hold and damping.

The minimum of energy plus penalties is compared with dense least squares. c_i is strength x #poses
x Lambda_i in the solver's coordinates (docs/energy.md 6 with a diagonal of 1). Hold and damping are
relative to the size of the mesh instead of its diagonal, which a rotation changes."""

import numpy as np
import pytest
import reference
import shapes
from test_steps import Solved

STRENGTH = 100.0


def rows_of(s, entries, targets, strength=STRENGTH):
    """Penalties of (vertex, compact bone) pairs for the reference."""
    unit = strength * len(s.poses)
    return [(i, b, t, unit * s.area[i]) for (i, b), t in zip(entries, targets, strict=True)]


def check_step(s, rows, atol=1e-7):
    expected = s.model.step(s.weights, s.mask, rows)
    s.solver.iterate(1)
    np.testing.assert_allclose(s.raw(), expected, atol=atol)
    free = s.model.step(s.weights, s.mask)
    assert np.abs(free - expected).max() > 1e-3, "the rows made no difference"


@pytest.mark.parametrize("name", ["tube", "fan", "wires"])
def test_constraints_of_the_user(name, rng):
    """Constraints apply to first (eliminated) entries and to others, even if one is given twice."""
    s = Solved(rng, name)
    picked = [(0, s.mask[0].argmax()), (5, np.nonzero(s.mask[5])[0][-1]), (9, s.mask[9].argmax())]
    picked.append(picked[0])
    targets = [0.9, 0.25, 0.1, 0.4]
    numbers = np.arange(len(s.deforming))
    if s.deforming.dtype == bool:
        numbers = np.nonzero(s.deforming)[0]
    vertices, bones = np.array(picked).T
    s = Solved(
        np.random.default_rng(20180813), name, constraints=(vertices, numbers[bones], targets)
    )
    check_step(s, rows_of(s, picked, targets))


def test_constraint_strength_and_rows_without_a_place(rng):
    """A constraint on a bone that does not influence the vertex, or does not deform, has no
    effect."""
    mask = Solved(np.random.default_rng(20180813), "wires").mask
    vertex = np.nonzero(mask[:, 4] & (mask.sum(1) > 2))[0][0]
    rows = ([2, vertex, vertex], [0, 4, 5], [1, 1, 0.2])  # bone 4 does not deform
    s = Solved(rng, "wires", constraint_strength=7.0, constraints=rows)
    assert not s.mask[2, 0]
    check_step(s, rows_of(s, [(vertex, 4)], [0.2], 7.0))


def test_neumann_rows_are_where_a_neighbor_lacks_the_bone(rng):
    s = Solved(rng, "tube", neumann=True)
    border = [
        (i, b)
        for i, b in np.argwhere(s.mask)
        if any(not s.mask[k, b] for k in np.nonzero(s.a[i])[0])
    ]
    check_step(s, rows_of(s, border, np.zeros(len(border))))
    assert s.solver.report["neumann_rows"] == len(border) > 0


def test_damping_pulls_to_the_initial_weights(rng):
    s = Solved(rng, "tube", damping=3.0)
    entries = np.argwhere(s.mask)
    check_step(s, rows_of(s, entries, s.weights[s.mask], 3.0 * s.size**2))
    assert s.solver.report["damping"] == 3.0


def test_positivity_rows_come_after_the_iteration_and_stay(rng):
    s = Solved(rng, "wires", positivity="penalty", iterations=8, tolerance=0, acceleration=0)
    weights, rows, held = s.weights, [], set()
    for _ in range(4):
        weights = reference.Quadratic(s.points, s.a, weights, s.poses).step(weights, s.mask, rows)
        new = [
            (i, b)
            for i, b in np.argwhere(s.mask & (weights < -1e-3))
            if (i, b) not in held
            and all(weights[k, b] >= weights[i, b] for k in np.nonzero(s.a[i])[0])
        ]
        held.update(new)
        rows += rows_of(s, new, np.zeros(len(new)))
        s.solver.iterate(1)
        np.testing.assert_allclose(s.raw(), weights, atol=1e-6)
    assert s.solver.report["positivity_rows"] == len(rows) > 0
    assert s.solver.weights.min() >= 0


def test_accelerated_positivity_rows_come_every_third_iteration(rng):
    """Each change of the rows costs a factorization, and the stage does not end before the first
    such iteration."""
    s = Solved(rng, "wires", positivity="penalty", iterations=8, tolerance=1)
    rows = []
    while not s.solver.done:
        s.solver.iterate(1)
        rows.append(s.solver.report["positivity_rows"])
    assert rows[:2] == [0, 0] and rows[2] > 0
    assert rows[3:] == rows[2:-1] and len(rows) > 3


def test_a_stage_with_rows_ends_where_the_next_ones_would_need_a_factor():
    """At that point, a small predicted change is sufficient, as after a coarser mesh."""

    def solve(seed, tolerance):
        s = Solved(
            np.random.default_rng(seed), "wires", positivity="penalty", iterations=8,
            tolerance=tolerance,
        )  # fmt: skip
        s.solver.solve()
        return s.solver.energies

    for seed in range(20):  # until one has larger changes before
        energies = solve(seed, 0)
        changes = np.abs(np.diff(energies)) / energies[1:]
        foretold, least = changes[5] ** 2 / changes[4], changes[3:6].min()
        if foretold < 0.8 * least:
            break
    assert foretold < 0.8 * least
    np.testing.assert_array_equal(solve(seed, 0.9 * least), energies[:7])


def test_rows_without_a_limit_are_eliminated_by_their_sizes():
    """Without a limit, the elimination order differs, which gives a larger factor and the same
    weights."""
    mesh, bones = shapes.tube(40, 60), shapes.chain(8)
    by_rows, by_vertices = (
        shapes.solve(
            mesh, bones, pose_count=6, expansion_rounds=0, iterations=4, coarsen=0,
            precision="double", positivity="penalty", pruning=(1, 0.95, 0.05), max_influences=most,
        )
        for most in (0, 1000)
    )  # fmt: skip
    sizes = by_rows.report["factor_size"], by_vertices.report["factor_size"]
    assert by_rows.report["unknowns"] == by_vertices.report["unknowns"] and sizes[0] < sizes[1]
    np.testing.assert_allclose(by_rows.weights, by_vertices.weights, atol=1e-9)


def test_clip_is_one_iteration_without_the_negative_part(rng):
    """With "clip", weights are made >= 0 after every iteration, and with "none" only in the
    result."""
    clipped, free = (
        Solved(np.random.default_rng(1), "wires", positivity=p, iterations=1)
        for p in ("clip", "none")
    )
    expected = free.model.step(free.weights, free.mask)
    assert expected.min() < -0.01
    positive = np.maximum(expected, 0)
    positive /= positive.sum(1, keepdims=True)
    clipped.solver.iterate(1)
    free.solver.iterate(1)
    np.testing.assert_allclose(clipped.raw(), positive, atol=1e-7)
    np.testing.assert_allclose(free.raw(), expected, atol=1e-7)
    for s in (clipped, free):
        assert s.solver.weights.min() >= 0


def heat_solver(**settings):
    """A tube without symmetry, so that no two weights are equal by chance."""
    mesh, bones = shapes.tube(8, 17), shapes.chain(4)
    mesh[0][:] += np.random.default_rng(4).normal(size=mesh[0].shape) * 0.01
    bare = {**reference.PAPER, "link_parts": False, "precision": "double", "damping": 0}
    bare |= {"max_influences": 0, "expansion_rounds": 0}
    return mesh, shapes.solver(mesh, bones, **{**bare, **settings})


def test_attach_rows_are_strict_maxima_above_a_half():
    settings = {"attach": True, "peak_stiffness": 0}
    (vertices, triangles), solver = heat_solver(**settings, pruning=(1, 1.0, 0.0), heat_floor=0)
    heat = solver.initial_weights
    _, a = reference.edge_weights(vertices, triangles)
    expected = [
        (i, b) for i, b in np.argwhere(heat > 0.5) if all(heat[np.nonzero(a[i])[0], b] < heat[i, b])
    ]
    assert solver.report["attach_rows"] == len(expected) >= 4
    solver = heat_solver(**settings, constraint_strength=1e6, positivity="none")[1]
    solver.iterate(1)
    for i, b in expected:
        assert solver.raw_weights[i, b] == pytest.approx(1, abs=1e-4)


def test_undesired_attach_rows_are_dropped_after_each_iteration():
    """Dropped are rows whose vertex has neighbors with a mean weight of at most a half, except for
    the rows with the largest mean of their bone."""
    bare = {**reference.PAPER, "link_parts": False, "precision": "double", "damping": 0}
    bare |= {"max_influences": 0, "expansion_rounds": 0, "attach": True}
    mesh, bones = shapes.tube(8, 17), shapes.chain(4)
    mesh[0][:] += np.random.default_rng(3).normal(size=mesh[0].shape) * 0.1
    _, a = reference.edge_weights(*mesh)
    kept, solver = (shapes.solver(mesh, bones, **bare, drop_attachments=d) for d in (False, True))
    rows = [(row["vertex"], row["bone"]) for row in solver.constraint_rows]
    dropped = set()
    for iteration in range(6):
        mean = {(i, b): solver.raw_weights[a[i] > 0, b].mean() for i, b in rows}
        best = {b: max(mean[i, c] for i, c in rows if c == b) for _, b in rows}
        if iteration:
            dropped |= {(i, b) for (i, b), m in mean.items() if m <= 0.5 and m < best[b]}
        solver.iterate(1)
        found = [(r["vertex"], r["bone"]) for r in solver.constraint_rows if r["released"]]
        assert sorted(dropped) == sorted(found)
    assert dropped
    assert {b for _, b in dropped} <= {b for _, b in set(rows) - dropped}
    kept.solve(), solver.solve()
    assert not any(row["released"] for row in kept.constraint_rows)
    assert solver.energy < 0.9 * kept.energy
    for i, b in dropped:
        assert solver.raw_weights[i, b] < 0.9 < 0.95 < kept.raw_weights[i, b]


def test_attach_on_a_single_peak():
    """A bone that ends in the tip of a cone has one strict maximum there."""
    mesh, bones = shapes.tube(8, 17, caps=True), shapes.chain(2)
    mesh[0][-1] += [0, 0, 0.3]
    settings = {
        "peak_stiffness": 0,
        "max_influences": 0,
        "expansion_rounds": 0,
        "constraint_strength": 1e6,
    }
    solver = shapes.solver(mesh, bones, **settings, attach=True)
    assert solver.report["attach_rows"] >= 1
    solver.iterate(1)
    assert solver.weights[-1, 1] > 0.999


def test_hold_rows_keep_every_bone_where_it_is_strongest():
    free = heat_solver(peak_stiffness=0)[1]
    held = heat_solver(peak_stiffness=1e6)[1]
    assert free.report["peak_rows"] == 0
    assert held.report["peak_rows"] > 0
    heat = held.initial_weights
    held.solve()
    for b in range(4):
        top = heat[:, b] >= 0.95 * heat[:, b].max()
        np.testing.assert_allclose(held.weights[top, b], heat[top, b], atol=1e-3)
