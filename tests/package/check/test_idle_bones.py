"""A bone with skin around it keeps weights, at any cost in energy."""

import araplbs
import numpy as np
import pytest
import shapes

SHORT = 1  # the bone between two others, for which two influences leave no room


def bent_chain(**more):
    """A thick tube with a short bone in its middle, as arguments of a Solver."""
    vertices, triangles = shapes.tube(16, 40, 0.35)
    joints = np.array([[0, 0, z] for z in (0, 0.925, 1.075, 2.0)])
    chain = shapes.Bones(joints[:-1], joints[1:], np.arange(3) - 1)
    return (vertices, triangles, *chain), {"max_influences": 2, "bone_spring_stiffness": 0, **more}


def solved(**more):
    mesh, options = bent_chain(**more)
    solver = shapes.solved(araplbs.Solver(*mesh, **options))
    return solver


def test_a_short_bone_moves_the_skin_around_it():
    solver = solved()
    initial, weights = solver.initial_weights, solver.weights
    excess = np.maximum(initial[:, SHORT] - initial[:, SHORT].max() / 2, 0)
    np.testing.assert_allclose(weights[:, SHORT], np.where(excess > 0.001, excess, 0), atol=1e-12)
    assert weights[:, SHORT].any() and solver.report["idle_bones"] == []


def test_rows_stay_rows():
    weights = solved().weights
    np.testing.assert_allclose(weights.sum(1), 1, atol=1e-12)
    assert (weights >= 0).all() and (weights > 0).sum(1).max() == 2
    assert weights[weights > 0].min() >= 0.001


def test_the_smallest_weight_makes_room():
    solver = solved()
    near, larger = solver.weights[:, SHORT] > 0, solver.initial_weights[:, [0, 2]].argmax(1) * 2
    assert (solver.weights[near, larger[near]] > 0).mean() > 0.9


def test_mirrored_weights_stay_mirrored():
    solver = solved(symmetry=([0, 1, 2], [0, 0, 0], [1, 0, 0]))
    vertices = bent_chain()[0][0]
    image = np.array([np.abs(vertices - v * (-1, 1, 1)).sum(1).argmin() for v in vertices])
    assert solver.weights[:, SHORT].any()
    assert (solver.weights == solver.weights[image]).all()


def test_what_is_forbidden_stays_so():
    vertices = bent_chain()[0][0]
    barred = np.flatnonzero(vertices[:, 0] > 0)
    weights = solved(influences=forbid(barred)).weights
    assert not weights[barred, SHORT].any() and weights[:, SHORT].any()


def test_locked_vertices_stay_as_they_are():
    vertices = bent_chain()[0][0]
    kept = np.tile([0.5, 0.0, 0.5], (len(vertices), 1))
    locked = vertices[:, 0] > 0
    weights = solved(weights=kept, locked_vertices=locked).weights
    np.testing.assert_allclose(weights[locked], kept[locked], atol=1e-12)
    assert weights[~locked, SHORT].any()


def test_rigid_parts_stay_rigid():
    vertices = bent_chain()[0][0]
    part = np.where(np.abs(vertices[:, 2] - 1) < 0.2, 0, -1).astype(np.int32)
    weights = solved(rigid_parts=part).weights
    assert (weights[part == 0] == weights[part == 0][0]).all()


@pytest.mark.parametrize("limit", [0, 1])
def test_without_a_limit_and_with_one_influence_the_energy_decides(limit):
    """With one influence, there is no room for another. Without a limit, no influence was
    removed."""
    weights = solved(max_influences=limit).weights
    np.testing.assert_allclose(weights.sum(1), 1, atol=1e-12)
    if limit:
        assert set(np.unique(weights)) == {0.0, 1.0}


def test_a_bone_without_skin_gets_none():
    (vertices, triangles, heads, tails, parents), options = bent_chain()
    heads, tails = np.vstack([heads, [[0, 5, 1]]]), np.vstack([tails, [[0, 6, 1]]])
    solver = shapes.solved(
        araplbs.Solver(vertices, triangles, heads, tails, np.append(parents, 0), **options)
    )
    assert 3 in solver.report["idle_bones"]


def forbid(vertices):
    vertices = np.asarray(vertices)
    return vertices, np.full(len(vertices), SHORT), np.zeros(len(vertices), bool)


def test_controls_around_a_bone_do_not_take_its_skin():
    """Bones that do not deform, such as those of a film rig next to a thigh, count as part of their
    parent; skin nearer to one of them than to the only deforming bone still belongs to that
    bone."""
    vertices, triangles = shapes.tube(16, 40, 0.35)
    turn = np.arange(8) * np.pi / 4
    around = 0.2 * np.column_stack([np.cos(turn), np.sin(turn), 0 * turn])
    heads = np.vstack([[(0, 0, 0), (0, 0, 1)], around + np.array([0, 0, 0.9])])
    tails = np.vstack([[(0, 0, 0.9), (0, 0, 2)], around + np.array([0, 0, 2.1])])
    deform = np.arange(10) < 2
    solver = araplbs.Solver(
        *(vertices, triangles, heads, tails, np.minimum(np.arange(10) - 1, 0)),
        bone_deform=deform,
    )
    solver.solve()
    above = vertices[:, 2] > 1.5
    assert solver.initial_weights[above, 1].min() > 0.5
    assert solver.weights[above, 1].min() > 0.9
    assert not solver.report["idle_bones"]
