"""A prop of several parts in a hand follows the hand instead of the fingers; parts that lie on the
skin, that one chain of bones holds, or that are garments do not change."""

import numpy as np
import pytest
import shapes


def hand():
    """A palm along X with four fingers, in one piece: closed, made of cells of a grid."""
    cells = {(x, y, 0) for x in range(16) for y in range(-7, 7)}
    cells |= {
        (x, 2 * f + 3 * f - 7 + w, 0) for x in range(16, 34) for f in range(3) for w in range(4)
    }
    corners, triangles = {}, []
    sides = (
        ((1, 0, 0), ((1, 0, 0), (1, 1, 0), (1, 1, 1), (1, 0, 1))),
        ((-1, 0, 0), ((0, 0, 0), (0, 0, 1), (0, 1, 1), (0, 1, 0))),
        ((0, 1, 0), ((0, 1, 0), (0, 1, 1), (1, 1, 1), (1, 1, 0))),
        ((0, -1, 0), ((0, 0, 0), (1, 0, 0), (1, 0, 1), (0, 0, 1))),
        ((0, 0, 1), ((0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1))),
        ((0, 0, -1), ((0, 0, 0), (0, 1, 0), (1, 1, 0), (1, 0, 0))),
    )
    for cell in sorted(cells):
        for way, ring in sides:
            if tuple(np.add(cell, way)) in cells:
                continue
            a, b, c, d = (
                corners.setdefault(tuple(np.add(cell, corner)), len(corners)) for corner in ring
            )
            triangles += [(a, b, c), (a, c, d)]
    return np.array(list(corners), float) * (0.05, 0.05, 0.15), np.array(triangles)


HAND = hand()
FIRST = len(HAND[0])
MIDDLES = [0.05 * (5 * f - 5) for f in range(3)]
HEADS = [(0, 0, 0.075)] + [(x, y, 0.075) for y in MIDDLES for x in (0.8, 1.25)]
TAILS = [(0.8, 0, 0.075)] + [(x, y, 0.075) for y in MIDDLES for x in (1.25, 1.7)]
BONES = shapes.Bones(
    np.array(HEADS, float),
    np.array(TAILS, float),
    np.array([-1, 0, 1, 0, 3, 0, 5]),
    roll_axes=np.tile([0.0, 0, 1], (7, 1)),
)
PALM = 0


def blocks(size, at, cuts):
    """A closed box whose sides are divided into cells."""
    half = np.array(size) / 2
    grid = shapes.bar(cuts, size)
    vertices, tets = grid
    faces = np.sort(tets[:, [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]].reshape(-1, 3), 1)
    unique, count = np.unique(faces, axis=0, return_counts=True)
    outside = unique[count == 1]
    used, triangles = np.unique(outside, return_inverse=True)
    vertices, triangles = vertices[used], triangles.reshape(-1, 3)
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    middle = vertices.mean(0)
    inward = np.einsum("td,td->t", np.cross(b - a, c - a), a - middle) < 0
    triangles[inward] = triangles[inward][:, ::-1]
    return vertices - (0, 0, half[2]) + at, triangles


def pistol(cuts=4):
    """[slide, grip, magazine, barrel] across the fingers, below them."""
    return [
        blocks((0.3, 1.4, 0.25), (1.2, 0.2, -0.13), (2, 3 * cuts, 2)),
        blocks((0.2, 0.25, 0.8), (1.2, -0.3, -0.5), (2, 2, cuts)),
        blocks((0.15, 0.2, 0.2), (1.2, -0.3, -0.95), (1, 1, 1)),
        blocks((0.1, 0.8, 0.1), (1.2, 1.1, -0.13), (1, cuts, 1)),
    ]


def rows_of(parts, bones=BONES, **settings):
    solver = shapes.solve(shapes.join(HAND, *parts), bones, precision="double", **settings)
    counts = np.cumsum([FIRST, *(len(part[0]) for part in parts)])
    return np.split(solver.weights, counts[:-1])[1:]


@pytest.mark.parametrize("cuts", [1, 4])
def test_a_pistol_follows_the_hand(cuts):
    parts = pistol(cuts)
    for rows in rows_of(parts):
        assert (rows == np.eye(7)[PALM]).all()
    free = np.concatenate(rows_of(parts, rigid_departure=0))
    assert free[:, PALM].max() < 0.9, "without, the fingers divide it"


def test_a_finger_goes_through_the_largest_part():
    """A thick guard with a hole for the first finger, whose skin is the hand."""
    angle = np.arange(12) * np.pi / 6
    rings = [
        np.column_stack([np.full(12, x), r * np.cos(angle), 0.075 + r * np.sin(angle)])
        for x, r in ((1.0, 0.2), (1.3, 0.2), (1.3, 0.6), (1.0, 0.6))
    ]
    i, k = np.arange(12), (np.arange(12) + 1) % 12
    faces = []
    for ring in range(4):
        a, b = 12 * ring, 12 * ((ring + 1) % 4)
        faces += [
            np.column_stack([a + i, b + i, a + k]),
            np.column_stack([b + i, b + k, a + k]),
        ]
    guard = np.concatenate(rings) - [0, 0.4, 0], np.concatenate(faces)
    for rows in rows_of([guard, *pistol()]):
        assert (rows == np.eye(7)[PALM]).all()


def test_what_has_a_bone_of_its_own_is_not_held():
    heads, tails = np.r_[BONES.heads, [[1.2, -0.4, -0.13]]], np.r_[BONES.tails, [[1.2, 0.8, -0.13]]]
    bones = shapes.Bones(
        heads, tails, np.r_[BONES.parents, 0], roll_axes=np.tile([0.0, 0, 1], (8, 1))
    )
    rows = rows_of(pistol()[:1], bones)[0]
    assert rows[:, PALM].max() < 0.5 and rows[:, 7].mean() > 0.5


def test_what_is_open_rides_on_the_prop():
    """A plate on the slide and a screw on the plate, neither of them closed; a nail of the finger
    does not."""
    side = shapes.box((0.02, 0.3, 0.1), (1.362, 0.6, -0.13))
    screw = shapes.box((0.01, 0.04, 0.04), (1.379, 0.6, -0.13))
    nail = shapes.box((0.12, 0.1, 0.01), (1.6, 0, 0.156))
    opened = [(v, t[:-2]) for v, t in (side, screw, nail)]
    parts = rows_of([*pistol(), *opened])
    for rows in parts[:-1]:
        assert (rows == np.eye(7)[PALM]).all()
    assert parts[-1][:, [3, 4]].sum(1).min() > 0.9


def test_turned_with_all_else(rng):
    turn = shapes.random_rotations(rng)
    vertices, triangles = shapes.join(HAND, *pistol())
    mesh, bones = (vertices @ turn.T, triangles), BONES.moved(turn)
    solver = shapes.solve(mesh, bones, precision="double")
    assert (solver.weights[FIRST:] == np.eye(7)[PALM]).all()


def test_a_tool_of_one_part_follows_the_hand():
    (rows,) = rows_of(pistol()[:1])
    assert (rows == np.eye(7)[PALM]).all()


def test_what_one_finger_holds_follows_it():
    ring = blocks((0.3, 0.15, 0.3), (1.5, 0, -0.155), (2, 2, 2))
    (rows,) = rows_of([ring])
    assert rows[:, [3, 4]].sum(1).min() > 0.9


def tentacles(joints):
    """Chains of this many bones each instead of the fingers."""
    heads, tails, parents = [HEADS[0]], [TAILS[0]], [-1]
    for y in MIDDLES:
        x = np.linspace(0.8, 1.7, joints + 1)
        parents += [0, *range(len(heads), len(heads) + joints - 1)]
        heads += [(at, y, 0.075) for at in x[:-1]]
        tails += [(at, y, 0.075) for at in x[1:]]
    rolls = np.tile([0.0, 0, 1], (len(heads), 1))
    return shapes.Bones(
        np.array(heads, float), np.array(tails, float), np.array(parents), roll_axes=rolls
    )


@pytest.mark.parametrize("joints", [3, 6])
def test_no_branch_is_longer_than_a_finger(joints):
    bar = blocks((0.1, 1.4, 0.25), (1.62, 0.2, -0.13), (1, 12, 2))
    (rows,) = rows_of([bar], tentacles(joints))
    assert (rows[:, PALM] == 1).all() == (joints == 3)


def test_what_lies_on_the_fingers_is_not_a_prop():
    """A thick plate along all of them."""
    plate = blocks((0.85, 0.7, 0.2), (1.25, 0, -0.105), (8, 8, 2))
    (rows,) = rows_of([plate])
    assert not (rows == np.eye(7)[PALM]).all()


def test_a_sheet_is_not_a_prop():
    """A thin cloth that hangs from the fingers."""
    cloth = blocks((0.02, 1.0, 1.4), (1.2, 0, -0.71), (1, 10, 14))
    free, rows = (rows_of([cloth], rigid_departure=share)[0] for share in (0, 1e-3))
    np.testing.assert_array_equal(rows, free)


def test_a_part_with_wanted_weights_is_left_alone():
    parts = pistol()
    first = FIRST + len(parts[0][0])
    slide, grip, magazine, barrel = rows_of(parts, constraints=([first], [6], [0.5]))
    for rows in (slide, magazine, barrel):
        assert (rows == np.eye(7)[PALM]).all()
    assert grip[0, 6] > 0.1


def test_a_part_that_must_not_follow_the_hand_does_not():
    parts = pistol()
    own = np.arange(FIRST, FIRST + len(parts[0][0]))
    no = own, np.full(len(own), PALM), np.zeros(len(own), bool)
    slide, grip, magazine, barrel = rows_of(parts, influences=no)
    assert not slide[:, PALM].any()
    for rows in (grip, magazine, barrel):
        assert (rows == np.eye(7)[PALM]).all()


def test_images_are_held_together():
    """The images are held by two hands that are images of each other, and by both."""
    away = np.array([0.0, 1.0, 0])

    def both(mesh):
        return shapes.join(
            (mesh[0] + away, mesh[1]), ((mesh[0] + away) * [1, -1, 1], mesh[1][:, ::-1])
        )

    mesh = shapes.join(both(HAND), *map(both, pistol()[:2]))
    heads, tails = (x + away for x in (BONES.heads, BONES.tails))
    trunk = np.array([(-0.5, 0, 0.075), (-0.1, 0, 0.075)])
    bones = shapes.Bones(
        np.concatenate([trunk[:1], heads, heads * [1, -1, 1]]),
        np.concatenate([trunk[1:], tails, tails * [1, -1, 1]]),
        np.array([-1, 0, 1, 2, 1, 4, 1, 6, 0, 8, 9, 8, 11, 8, 13]),
        roll_axes=np.tile([0.0, 0, 1], (15, 1)),
    )
    partners = np.r_[0, 8:15, 1:8]
    solver = shapes.solve(
        mesh, bones, symmetry=(partners, (0, 0, 0), (0, 1, 0)), precision="double"
    )
    side = np.sign(mesh[0][2 * FIRST :, 1])
    expected = np.where(side > 0, 1, 8)
    np.testing.assert_array_equal(solver.weights[2 * FIRST :], np.eye(15)[expected])


def test_threads_change_nothing():
    one, three = (np.concatenate(rows_of(pistol(), threads=n)) for n in (1, 3))
    np.testing.assert_array_equal(one, three)
