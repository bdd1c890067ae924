"""Bones without weights in the report."""

import araplbs
import numpy as np
import shapes


def test_a_bone_without_skin_gets_none():
    vertices, triangles = shapes.tube(16, 40, 0.35)
    joints = np.array([[0, 0, z] for z in (0, 1, 2.0)])
    heads, tails = np.vstack([joints[:-1], [[0, 5, 1]]]), np.vstack([joints[1:], [[0, 6, 1]]])
    parents = np.array([-1, 0, 0])
    solver = shapes.solved(araplbs.Solver(vertices, triangles, heads, tails, parents))
    assert 2 in solver.report["idle_bones"]


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
