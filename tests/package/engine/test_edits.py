"""Changes that an artist makes while the weights converge: constraints, influence patterns,
released rows."""

import araplbs
import numpy as np
import pytest
import shapes
from test_levels import BONES as CHAIN
from test_levels import TUBE
from test_levels import start as start_with_levels
from test_penalties import check_step, rows_of
from test_steps import Solved

BONES = shapes.chain(3)


def start(**settings):
    return shapes.solver(shapes.tube(10, 13), BONES, **{"precision": "double", **settings})


@pytest.mark.parametrize("name", ["tube", "fan", "wires"])
def test_constraints_given_later(name, rng):
    """The next global step is the dense one with the rows of the constraints."""
    s = Solved(rng, name)
    picked = [(0, s.mask[0].argmax()), (5, np.nonzero(s.mask[5])[0][-1])]
    numbers = np.arange(s.mask.shape[1])
    if s.deforming.dtype == bool:
        numbers = np.nonzero(s.deforming)[0]
    vertices, bones = np.array(picked).T
    s.solver.edit(constraints=(vertices, numbers[bones], [0.9, 0.2]))
    assert not s.solver.done
    check_step(s, rows_of(s, picked, [0.9, 0.2]))


def test_edits_replace_each_other():
    """After they are removed, only the path of the iterations differs."""
    solver = shapes.solved(start(tolerance=1e-9, iterations=300))
    free, energy = solver.weights, solver.energy
    vertex = int(free[:, 0].argmax())
    solver.edit(constraints=([vertex], [2], [0.7]), influences=([vertex], [2], [True]))
    solver.solve()
    assert solver.weights[vertex, 2] == pytest.approx(0.7, abs=0.05)
    assert solver.energy > energy
    assert [r["kind"] for r in solver.constraint_rows].count("user") == 1
    solver.edit()
    solver.solve()
    assert solver.energy == pytest.approx(energy, rel=0.1)
    np.testing.assert_allclose(solver.weights, free, atol=0.15)
    assert not solver.weights[vertex, 2] > 0.1


@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize("limit", [0, 2])
def test_forbidden_influences(later, limit):
    """Influence maps, weights and all additions of the stages respect the edits. Sums and the limit
    hold."""
    free = shapes.solved(start(max_influences=limit))
    vertices = np.nonzero(free.weights[:, 1] > 0.3)[0]
    assert len(vertices) > 10
    influences = (vertices, np.ones(len(vertices), int), np.zeros(len(vertices), bool))
    solver = start(max_influences=limit, **({} if later else {"influences": influences}))
    if later:
        solver.iterate(2)
        solver.edit(influences=influences)
    while not solver.done:
        assert not solver.weights[vertices, 1].any()
        solver.iterate()
    assert not solver.weights[vertices, 1].any()
    np.testing.assert_allclose(solver.weights.sum(1), 1, atol=1e-12)
    assert not limit or (solver.weights > 0).sum(1).max() <= limit


def test_a_vertex_that_loses_its_bones_gets_the_nearest_other():
    solver = start(pruning=(1, 0.5, 0.5), expansion_rounds=0, max_influences=1)
    end = int(solver.initial_weights[:, 0].argmax())
    solver.edit(influences=([end], [0], [False]))
    assert solver.weights[end].tolist() == [0, 1, 0]
    solver.edit(influences=([end] * 3, [0, 1, 2], [False] * 3))
    assert solver.weights[end].sum() == 1, "all are forbidden: what it has stays"


def test_what_forbidden_bones_had_goes_to_the_nearest_allowed():
    solver = start(pruning=(1, 0.5, 0.5), expansion_rounds=0, max_influences=0)
    end = int(solver.initial_weights[:, 0].argmax())
    rest = solver.weights[end, 1]
    solver.edit(influences=([end] * 3, [0, 1, 2], [False, True, True]))
    assert solver.weights[end].tolist() == [0, 1, 0]
    assert rest < 0.5, "it is not what the other influences were already"


def test_no_spring_to_forbidden_bones():
    free = dict(zip(*start().bone_springs[:2], strict=True))
    vertices = np.array([v for v, bone in free.items() if bone == 1])
    assert len(vertices) > 10
    influences = (vertices, np.ones(len(vertices), int), np.zeros(len(vertices), bool))
    springs = dict(zip(*start(influences=influences).bone_springs[:2], strict=True))
    assert all(springs.get(v) in (0, 2) for v in vertices)
    others = np.setdiff1d(list(free), vertices)
    assert [springs[v] for v in others] == [free[v] for v in others]


def test_allowed_influences_enter_the_maps():
    solver = start(pruning=(1, 0.5, 0.5), expansion_rounds=0, max_influences=0)
    far = np.nonzero(solver.initial_weights[:, 2] == 0)[0]
    assert len(far) > 10
    solver.edit(influences=(far, np.full(len(far), 2), np.ones(len(far), bool)))
    inside = solver._inside
    maps = shapes.dense((inside["start"], inside["bone"], True), 3)
    assert maps[far, 2].all()
    before = solver.energies[-1]
    solver.solve()
    assert solver.weights[far, 2].any() and solver.energy < before


def test_released_rows_do_not_count():
    """Releasing all hold rows has the same effect as removing them."""
    weights = start().initial_weights
    given = {
        "weights": weights,
        "start_from_weights": True,
        "expansion_rounds": 0,
        "max_influences": 0,
    }
    given["bone_spring_stiffness"] = 0  # released pairs let go of springs, too
    rows = start(**given, peak_stiffness=0.5).constraint_rows
    assert len(rows) > 3 and {row["kind"] for row in rows} == {"peak"}
    pairs = ([row["vertex"] for row in rows], [row["bone"] for row in rows])
    released = start(**given, peak_stiffness=0.5, released=pairs)
    assert all(row["released"] for row in released.constraint_rows)
    none, held = start(**given, peak_stiffness=0), start(**given, peak_stiffness=0.5)
    for solver in (released, none, held):
        solver.solve()
    np.testing.assert_allclose(released.weights, none.weights, atol=1e-12)
    assert np.abs(held.weights - none.weights).max() > 1e-4


def test_rows_say_what_they_are():
    solver = start(
        attach=True, peak_stiffness=0.01, bone_spring_stiffness=0, constraints=([7], [1], [0.5])
    )
    rows = solver.constraint_rows
    assert {row["kind"] for row in rows} == {"peak", "attach", "user"}
    assert rows[-1] == {"vertex": 7, "bone": 1, "target": 0.5, "kind": "user", "released": False}
    attached = [row for row in rows if row["kind"] == "attach"]
    assert all(solver.initial_weights[r["vertex"], r["bone"]] > 0.4 for r in attached)


def test_edits_have_images():
    """On a symmetric character, edits of one side apply to both."""
    mesh = shapes.tube(10, 13)
    symmetry = ([0, 1, 2], (0, 0, 0), (1, 0, 0))
    solver = shapes.solve(mesh, BONES, symmetry=symmetry)
    assert solver.report["symmetric_vertices"] == len(mesh[0])
    vertex = 40  # x != 0
    image = int(np.linalg.norm(mesh[0] - mesh[0][vertex] * (-1, 1, 1), axis=1).argmin())
    assert image != vertex
    solver.edit(constraints=([vertex], [0], [0.9]), influences=([vertex], [0], [True]))
    solver.solve()
    assert solver.weights[vertex, 0] == solver.weights[image, 0] > 0.8
    solver.edit(influences=([vertex], [1], [False]))
    solver.solve()
    assert solver.weights[vertex, 1] == solver.weights[image, 1] == 0


@pytest.mark.parametrize("iterations", [None, 0, 2, 9])
def test_edits_with_coarse_levels(iterations):
    """Given at the start (None), while the coarse mesh is being solved, or after it."""
    free = start_with_levels()
    assert free.report["coarse_vertices"]
    free.solve()
    held = int(np.abs(free.weights[:, 0] - 0.4).argmin())
    barred = np.nonzero(free.weights[:, 1] > 0.5)[0]
    edits = {
        "constraints": ([held], [0], [1.0]),
        "influences": (barred, np.ones(len(barred), int), np.zeros(len(barred), bool)),
    }
    assert held not in barred or free.weights[held, 0] < 0.9
    solver = start_with_levels(**(edits if iterations is None else {}))
    if iterations is not None:
        solver.iterate(iterations)
        solver.edit(**edits)
    solver.solve()
    assert not solver.weights[barred, 1].any()
    assert solver.weights[held, 0] > max(0.75, free.weights[held, 0])
    np.testing.assert_allclose(solver.weights.sum(1), 1, atol=1e-12)
    assert len(CHAIN) == solver.weights.shape[1] and len(TUBE[0]) == len(solver.weights)


def test_wrong_edits_change_nothing():
    solver = start()
    solver.iterate(2)
    before = solver.weights
    for error, text, edits in (
        (
            ValueError,
            "constraint 0 refers to vertex 999, but there are 130",
            {"constraints": ([999], [0], [1])},
        ),
        (
            ValueError,
            "influence 1 refers to bone 3, but there are 3",
            {"influences": ([0, 0], [0, 3], [1, 1])},
        ),
        (ValueError, "influence 0 refers to vertex -1", {"influences": ([-1], [0], [1])}),
        (ValueError, "released 0 refers to bone -1", {"released": ([0], [-1])}),
        (ValueError, "constraint 0 has the target nan", {"constraints": ([0], [0], [np.nan])}),
        (TypeError, "influences must be a tuple", {"influences": [0, 0, 1]}),
        (TypeError, "released must be a tuple", {"released": ([0], [0], [1])}),
        (TypeError, "released must be two arrays", {"released": (None, None)}),
        (TypeError, "influences must be three arrays", {"influences": ([0], [0], None)}),
        (ValueError, r"influences\[2\]", {"influences": ([0], [0], [True, False])}),
        (TypeError, "attach", {"attach": ([0], [0])}),
    ):
        with pytest.raises(error, match=text):
            solver.edit(**edits)
    np.testing.assert_array_equal(solver.weights, before)
    solver.solve()


@pytest.mark.parametrize("more", [[], [0]])
def test_the_only_free_influence_is_forbidden(more):
    """Next to a locked bone that leaves a remainder, the nearest remaining bone takes it, also if a
    mark allows the locked one."""
    mesh, bones = shapes.tube(8, 9), shapes.chain(3)
    weights = np.tile([0.4, 0.6, 0.0], (len(mesh[0]), 1))
    solver = araplbs.Solver(
        *mesh, *bones, weights=weights, start_from_weights=True,
        locked_bones=[True, False, False],
        influences=([16] * (1 + len(more)), [1, *more], [False] + [True] * len(more)),
    )  # fmt: skip
    solver.solve()
    np.testing.assert_allclose(solver.weights[16], [0.4, 0, 0.6], atol=1e-12)
