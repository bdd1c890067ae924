"""Bones in the middle of a part, such as eyes in a head, move only this part; also tests parts that
do not meet the conditions."""

import itertools

import araplbs
import numpy as np
import pytest
import shapes

NECK, HEAD, LEFT, RIGHT = range(4)
TAILS = {
    "up": ([0, 0.1, 0.9], [0, 0, 0.25]),
    "forward": ([0, 0.1, 0.9], [0, -0.3, 0]),
    "short": ([0, 0.1, -0.3], [0, 0, 0.25]),
    "long": ([0, 0.1, -0.3], [0, 0, 0.5]),
}


def skull():
    vertices, triangles = shapes.sphere(24, 36, 1.0)
    low = vertices[:, 2] < -0.6
    vertices[low, :2] *= 0.6
    vertices[low, 2] = -0.6 + (vertices[low, 2] + 0.6) * 4
    return vertices, triangles


def eyes_at(x=0.35, y=-0.8, z=0.1):
    return np.array([[x, y, z], [-x, y, z]])


def bones(tails, at):
    head_tail, eye = TAILS[tails]
    heads = np.array([[0, 0.1, -2], [0, 0.1, -0.8], *at])
    ends = np.array([heads[1], head_tail, *(at + eye)], float)
    return heads, ends, np.array([-1, 0, 1, 1])


def face(tails="up", radius=0.16, rings=12, more=()):
    """(arguments of a Solver, [slice of each part]): skull, left eye, right eye, more."""
    at = eyes_at()
    parts = [skull(), *(shapes.sphere(rings, 16, radius, at=tuple(p)) for p in at), *more]
    ends = np.cumsum([0] + [len(p[0]) for p in parts])
    slices = [slice(a, b) for a, b in itertools.pairwise(ends)]
    return (*shapes.join(*parts), *bones(tails, at)), slices


def solved(mesh, **options):
    return shapes.solved(araplbs.Solver(*mesh, **options))


@pytest.mark.parametrize("tails", TAILS)
@pytest.mark.parametrize("radius", [0.1, 0.16, 0.22])
def test_eyes_move_nothing_else(tails, radius):
    for seed in range(2):
        mesh, (head, left, right) = face(tails, radius)
        solver = solved(mesh, seed=seed)
        weights = solver.weights
        assert solver.report["inner_bones"] == [LEFT, RIGHT]
        assert not weights[head, LEFT:].any()
        assert (weights[left, LEFT] == 1).all() and (weights[right, RIGHT] == 1).all()


def test_without_the_rule_they_do():
    mesh, (head, *_) = face()
    solver = solved(mesh, inner_bones=False)
    assert solver.report["inner_bones"] == [] and (solver.weights[head, LEFT:] > 0.2).any()


def half(vertices, triangles, y):
    """The front part of a mesh."""
    keep = (vertices[triangles][:, :, 1] <= y).all(1)
    used = np.unique(triangles[keep])
    number = np.full(len(vertices), -1)
    number[used] = np.arange(len(used))
    return vertices[used], number[triangles[keep]]


def test_half_an_eye_counts():
    at = eyes_at()
    parts = [skull()] + [half(*shapes.sphere(12, 16, 0.16, at=tuple(p)), p[1] + 0.01) for p in at]
    vertices, triangles = shapes.join(*parts)
    weights = solved((vertices, triangles, *bones("up", at))).weights
    assert not weights[: len(parts[0][0]), LEFT:].any()
    assert (weights[len(parts[0][0]) :, LEFT:].sum(1) == 1).all()


def test_pupils_follow_and_brows_do_not():
    at = eyes_at()
    pupils = [shapes.sphere(5, 8, 0.05, at=tuple(p - np.array([0, 0.1, 0]))) for p in at]
    brows = [shapes.box((0.3, 0.04, 0.04), tuple(p + np.array([0, -0.14, 0.2]))) for p in at]
    strand = shapes.box((0.02, 0.02, 0.5), (0.5, -0.92, 0.15))
    mesh, parts = face(more=[*pupils, *brows, strand])
    weights = solved(mesh).weights
    for part, bone in zip(parts[3:5], (LEFT, RIGHT), strict=True):
        assert (weights[part, bone] == 1).all()
    for part in (parts[0], *parts[5:]):
        assert not weights[part, LEFT:].any()
        assert np.allclose(weights[part][:, [NECK, HEAD]].sum(1), 1)


def test_on_finer_levels_and_mirrored():
    at = eyes_at()
    parts = [shapes.sphere(40, 60, 1.0), *(shapes.sphere(20, 24, 0.16, at=tuple(p)) for p in at)]
    mesh = (*shapes.join(*parts), *bones("up", at))
    solver = solved(mesh, symmetry=([0, 1, 3, 2], [0, 0, 0], [1, 0, 0]))
    weights, count = solver.weights, len(parts[0][0])
    assert solver.report["coarse_vertices"] and not weights[:count, LEFT:].any()
    assert (weights[count:, LEFT:].sum(1) == 1).all()


def test_what_a_person_allows_stays_possible():
    mesh, (head, left, _) = face()
    near = np.flatnonzero(np.linalg.norm(mesh[0][head] - eyes_at()[0], axis=1) < 0.3)
    wanted = near, near * 0 + LEFT, near * 0.0 + 0.5
    solver = solved(mesh, constraints=wanted, influences=(near, near * 0 + LEFT, near >= 0))
    assert (solver.weights[near, LEFT] > 0.3).all()
    every = np.arange(left.start, left.stop)
    forbidden = solved(mesh, influences=(every, every * 0 + LEFT, every < 0))
    np.testing.assert_allclose(forbidden.weights.sum(1), 1, atol=1e-12)
    assert not forbidden.weights[left, LEFT].any()


def limb(count=3):
    return shapes.tube(12, 24, 0.2, caps=True), shapes.chain(count)


def test_shells_around_limbs_are_no_such_parts():
    (vertices, triangles), chain = limb()
    for shell in (shapes.tube(12, 24, 0.3, caps=True), shapes.sphere(9, 14, 0.35, (0, 0, 1.0))):
        mesh = (*shapes.join((vertices, triangles), shell), *chain)
        assert solved(mesh).report["inner_bones"] == []


def test_a_head_of_blocks_moves_its_hat():
    body, head, hat = (
        shapes.box((1, 0.6, 1.6), (0, 0, 0.8)),
        shapes.box((0.7, 0.7, 0.7), (0, 0, 2.0)),
        shapes.box((1.2, 1.2, 0.2), (0, 0, 2.45)),
    )
    heads, tails = np.array([[0, 0, 0], [0, 0, 1.65]]), np.array([[0, 0, 1.6], [0, 0, 2.4]])
    mesh = (*shapes.join(body, head, hat), heads, tails, np.array([-1, 0]))
    solver = solved(mesh)
    assert solver.report["inner_bones"] == [] and (solver.weights[-8:, 1] == 1).all()


def test_the_tip_of_a_finger_moves_more_than_the_ball_in_its_joint():
    palm = shapes.sphere(12, 18, 0.8, (0, 0, 0))
    ball, tip = shapes.sphere(8, 12, 0.12, (0, 0, 0.85)), shapes.tube(10, 10, 0.1, height=0.8)
    tip = (tip[0] + (0, 0, 0.95), tip[1])
    heads, tails = np.array([[0, 0, -0.6], [0, 0, 0.85]]), np.array([[0, 0, 0.6], [0, 0, 1.75]])
    mesh = (*shapes.join(palm, ball, tip), heads, tails, np.array([-1, 0]))
    solver = solved(mesh)
    assert solver.report["inner_bones"] == []
    assert solver.weights[-len(tip[0]) :, 1].mean() > 0.9
