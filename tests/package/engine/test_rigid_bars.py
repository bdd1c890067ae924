"""Swords: straight parts that cross the skin below them follow one bone, together with their hilts;
parts that hang on the skin or follow it stay soft."""

import araplbs
import numpy as np
import pytest
import shapes
from test_symmetry import BONES as TWO_ARMS
from test_symmetry import PARTNERS, PLANE, body

BONES = shapes.chain(7)
TUBE = shapes.tube(16, 41)
FIRST = len(TUBE[0])


def stick(begin, end, wide=0.06, thick=0.03, cuts=24):
    """A closed bar of `cuts` pieces, with four vertices at each cut."""
    begin, end = np.array(begin, float), np.array(end, float)
    along = (end - begin) / np.linalg.norm(end - begin)
    side = np.cross(along, (1, 0, 0))
    side /= np.linalg.norm(side)
    up = np.cross(along, side)
    ring = [
        s * wide / 2 * side + t * thick / 2 * up for s, t in ((-1, -1), (1, -1), (1, 1), (-1, 1))
    ]
    vertices = np.concatenate([begin + k / cuts * (end - begin) + ring for k in range(cuts + 1)])
    triangles = [(0, 2, 1), (0, 3, 2), (4 * cuts, 4 * cuts + 1, 4 * cuts + 2)]
    triangles += [(4 * cuts, 4 * cuts + 2, 4 * cuts + 3)]
    for k in range(cuts):
        for i in range(4):
            a, b = 4 * k + i, 4 * k + (i + 1) % 4
            triangles += [(a, b, b + 4), (a, b + 4, a + 4)]
    return vertices, np.array(triangles)


BEGIN, END = np.array((0.24, -0.2, 0.1)), np.array((0.24, 0.2, 1.9))


def blade(**more):
    """Next to the tube, from one side of it to the other, along most of its bones."""
    return stick(BEGIN, END, **more)


def sword(cuts=24):
    """[blade, guard, grip, pommel]"""
    sideways, beyond = np.array((0, 0.09, -0.02)), END + (END - BEGIN) / 9
    return [
        blade(cuts=cuts),
        stick(END - sideways, END + sideways, 0.04, 0.04, cuts),
        stick(END, beyond, 0.04, 0.04, cuts),
        shapes.sphere(5, 8, 0.04, beyond),
    ]


def solved(parts, bones=BONES, **settings):
    return shapes.solve(shapes.join(TUBE, *parts), bones, precision="double", **settings)


def rows_of(solver, parts):
    """The weights of each part."""
    counts = np.cumsum([FIRST, *(len(part[0]) for part in parts)])
    return np.split(solver.weights, counts[:-1])[1:]


def follows_one_bone(rows):
    """The single bone that the part follows."""
    (bones,) = np.nonzero(rows[0])
    assert (rows == rows[0]).all()
    assert len(bones) == 1
    return bones[0]


@pytest.mark.parametrize("cuts", [1, 24])
def test_a_sword_follows_one_bone_with_its_hilt(cuts):
    """The sword follows a bone on which it lies. Its ends are next to other bones."""
    parts = sword(cuts)
    middle = {2, 3, 4} if cuts > 1 else {0, 2, 3, 4}  # of eight corners, four are next to the first
    assert {follows_one_bone(rows) for rows in rows_of(solved(parts), parts)} <= middle
    free, guard, *_rest = rows_of(solved(parts, rigid_departure=0), parts)
    apart = np.ptp(free, axis=0).max() if cuts > 1 else np.abs(free.mean(0) - guard[0]).max()
    assert apart > 0.3, "it is there to be torn"


def test_all_parts_of_a_sword_follow_the_same_bone():
    parts = sword()
    assert len({follows_one_bone(rows) for rows in rows_of(solved(parts), parts)}) == 1


def test_a_sword_turned_with_all_else(rng):
    turn = shapes.random_rotations(rng)
    vertices, triangles = shapes.join(TUBE, *sword())
    mesh, bones = (vertices @ turn.T, triangles), BONES.moved(turn)
    solver = shapes.solve(mesh, bones, precision="double")
    assert len({follows_one_bone(rows) for rows in rows_of(solver, sword())}) == 1


def strap():
    """The blade bent around the tube, which follows the skin."""
    vertices, triangles = stick((0.24, 0, 0.1), (0.24, 0, 1.9))
    angle = 1.5 * (vertices[:, 2] - 1)
    x, y, z = vertices.T
    turned = np.cos(angle) * x - np.sin(angle) * y, np.sin(angle) * x + np.cos(angle) * y
    return np.column_stack([*turned, z]), triangles


def card():
    """One side of the blade: a sheet."""
    vertices, triangles = blade()
    used = np.arange(len(vertices)) % 4 < 2
    sheet = triangles[used[triangles].all(1)]
    return vertices[used], (np.cumsum(used) - 1)[sheet]


SOFT = {
    "a tie, along the skin": stick((0.23, 0, 0.1), (0.23, 0, 1.9)),
    "a braid, from the skin outwards": stick((0.21, 0, 1.9), (0.4, 0, 0.1)),
    "a strap, around the skin": strap(),
    "a card of hair, not closed": card(),
}


@pytest.mark.parametrize("kind", SOFT)
def test_what_is_no_bar_stays_as_it_is(kind):
    free, solver = (solved([SOFT[kind]], rigid_departure=share) for share in (0, 0.01))
    np.testing.assert_array_equal(solver.weights, free.weights)


def test_what_lies_on_the_skin_is_no_part_of_the_sword():
    """A plate below the sword that touches it."""
    plate = shapes.box((0.03, 0.1, 0.1), (0.215, 0.1, 1.3))
    parts = [blade(), plate]
    above, below = rows_of(solved(parts), parts)
    assert follows_one_bone(above) in (2, 3)
    assert not (below == above[0]).all()


def test_a_hilt_with_wanted_weights_is_left_alone():
    parts = sword()
    first = FIRST + len(parts[0][0]) + len(parts[1][0])
    solver = solved(parts, constraints=([first], [6], [0.5]))
    above, _guard, grip, _pommel = rows_of(solver, parts)
    assert follows_one_bone(above) in (2, 3, 4)
    assert 0.1 < grip[0, 6] < 1


def test_crossed_swords_follow_a_bone_of_the_middle():
    """The swords touch and are images of each other. A bone of one side would pull both to that
    side."""
    mesh, _map = body()
    left = stick((-0.5, 0.3, 0.1), (0.7, 0.3, 1.9))
    right = left[0] * [-1, 1, 1], left[1][:, ::-1]
    mesh = shapes.join(mesh, left, right)
    solver = shapes.solve(mesh, TWO_ARMS, symmetry=(PARTNERS, *PLANE), precision="double")
    bone = follows_one_bone(solver.weights[-2 * len(left[0]) :])
    assert PARTNERS[bone] == bone


def test_what_is_alone_is_no_bar():
    """A straight body whose bones are next to it bends with them."""
    mesh = shapes.tube(24, 40, 0.25, 3.0, caps=True)
    bones = shapes.chain(2, 3.0).moved(np.eye(3), (0.5, 0, 0))
    solver = shapes.solved(araplbs.Solver(*mesh, *bones))
    assert (solver.rigid_parts == -1).all()
    assert solver.weights[0, 0] > solver.weights[-3, 0]
