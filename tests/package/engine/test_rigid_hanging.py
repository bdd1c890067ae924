"""Hair cards, which are strips of surface that touch the skin at one end, follow the skin at their
roots as a whole. Cards that lie along the skin, are not strips, or have bones of their own do not
change."""

import numpy as np
import pytest
import shapes

AROUND = 16
BONES = shapes.Bones(
    np.array([(0, 0, 0), (0, 0, 0.8), (0, 0, 1.6)], float),
    np.array([(0, 0, 0.8), (0, 0, 1.6), (0, 0, 2.0)], float),
    np.array([-1, 0, 1]),
    roll_axes=np.tile([0.0, 1, 0], (3, 1)),
)
HIPS, CHEST, HEAD = range(3)


def body():
    """A wide trunk and a slim head on it, in one piece."""
    profile = [(0.3, z) for z in np.linspace(0, 1.44, 19)] + [(0.2, 1.48), (0.1, 1.52)]
    profile += [(0.08, 1.6), (0.1, 1.64)] + [(0.2, z) for z in np.linspace(1.68, 2.0, 6)]
    angle = np.arange(AROUND) * 2 * np.pi / AROUND
    rings = [
        np.column_stack([r * np.cos(angle), r * np.sin(angle), np.full(AROUND, z)])
        for r, z in profile
    ]
    triangles = shapes.tube(AROUND, len(profile), caps=True)[1]
    return np.concatenate([*rings, [(0, 0, 0), (0, 0, 2.0)]]), triangles


BODY = body()
FIRST = len(BODY[0])


def card(angle=0.1, root=(0.21, 1.9), tip=(0.5, 0.9), width=0.03, cuts=9, sides=1):
    """A strip from one position to another, (radius, z) each, in the plane at this angle."""
    out = np.array([np.cos(angle), np.sin(angle), 0])
    side = np.array([-np.sin(angle), np.cos(angle), 0]) * width / 2
    share = np.linspace(0, 1, cuts)
    radius = root[0] + (tip[0] - root[0]) * share
    z = root[1] + (tip[1] - root[1]) * share**2
    middle = radius[:, None] * out + z[:, None] * np.array([0, 0, 1])
    vertices = np.stack([middle - side, middle + side], 1).reshape(-1, 3)
    k = 2 * np.arange(cuts - 1)[:, None]
    triangles = np.concatenate([k + np.array(t) for t in ((0, 1, 3), (0, 3, 2))])
    if sides == 2:
        return shapes.join((vertices, triangles), (vertices, triangles[:, ::-1]))
    return vertices, triangles


def rows_of(cards, bones=BONES, **settings):
    """The weights of each part after the body."""
    mesh = shapes.join(BODY, *cards)
    solver = shapes.solve(mesh, bones, precision="double", **settings)
    counts = np.cumsum([FIRST, *(len(part[0]) for part in cards)])
    return np.split(solver.weights, counts[:-1])[1:]


def is_one_row(rows):
    return bool((rows == rows[0]).all())


LONG = {"root": (0.21, 1.9), "tip": (0.45, 0.5)}  # most of it is near the trunk
TOUCHING = {"root": (0.21, 1.9), "tip": (0.305, 1.0)}  # and its tip lies on the trunk


@pytest.mark.parametrize("kind", [LONG, TOUCHING], ids=["free", "tip on the trunk"])
@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize("turned", [False, True], ids=["from the root", "from the tip"])
def test_a_card_follows_what_its_root_sits_on(kind, sides, turned):
    """The card's tip is next to the trunk, but the card follows its root. The order of its vertices
    does not matter."""
    vertices, triangles = card(**kind, sides=sides)
    part = (vertices[::-1], len(vertices) - 1 - triangles) if turned else (vertices, triangles)
    (free,) = rows_of([part], rigid_departure=0)
    (rows,) = rows_of([part])
    assert is_one_row(rows)
    assert rows[0, HEAD] > 0.9
    assert free[:, HEAD].min() < 0.5, "without, it leaves the head"


def test_layers_of_cards_hang_on_the_head():
    """Cards that lie on each other."""
    layers = [
        card(0.1 + 0.02 * k, (0.205 + 0.004 * k, 1.9), (0.45 + 0.004 * k, 0.6)) for k in range(6)
    ]
    for rows in rows_of(layers):
        assert is_one_row(rows)
        assert rows[0, HEAD] > 0.9


def test_a_root_between_bones_has_a_blend():
    """The blend of the skin below."""
    part = card(root=(0.31, 0.8), tip=(0.9, 0.4))
    mesh = shapes.join(BODY, part)
    solver = shapes.solve(mesh, BONES, precision="double")
    rows = solver.weights[FIRST:]
    assert is_one_row(rows)
    beneath = np.linalg.norm(mesh[0][:FIRST] - part[0][0], axis=1).argmin()
    np.testing.assert_allclose(rows[0], solver.weights[beneath], atol=0.15)
    assert 0.2 < rows[0, HIPS] < 0.8


def test_cards_turned_with_all_else(rng):
    turn = shapes.random_rotations(rng)
    vertices, triangles = shapes.join(BODY, card(**LONG))
    mesh, bones = (vertices @ turn.T, triangles), BONES.moved(turn)
    rows = shapes.solve(mesh, bones, precision="double").weights[FIRST:]
    assert is_one_row(rows)
    assert rows[0, HEAD] > 0.9


def with_bone_of_hair():
    """Adds a separate chain next to the trunk, at the card."""
    head, middle, tip = (0.3, 0.03, 1.85), (0.36, 0.03, 1.5), (0.45, 0.04, 0.5)
    return shapes.Bones(
        np.concatenate([BONES.heads, [head, middle]]),
        np.concatenate([BONES.tails, [middle, tip]]),
        np.array([-1, 0, 1, 2, 3]),
        roll_axes=np.tile([0.0, 1, 0], (5, 1)),
    )


def test_a_card_follows_bones_of_its_own():
    (rows,) = rows_of([card(**LONG)], with_bone_of_hair())
    assert rows[-1, 3:].sum() > 0.9


def cape():
    """A cape that hangs from the shoulders and is nearly as wide as long."""
    return card(0.1, (0.31, 1.4), (0.9, 0.8), 0.45, 5)


SOFT = {
    "a cape": cape(),
    "a strip along the trunk": card(root=(0.31, 1.4), tip=(0.31, 0.2)),
    "a strip that touches nothing": card(root=(0.6, 1.4), tip=(0.6, 0.2)),
    "a sleeve": (shapes.tube(12, 9, 0.36, 0.9)[0] + [0, 0, 0.3], shapes.tube(12, 9, 0.36, 0.9)[1]),
}


@pytest.mark.parametrize("kind", SOFT)
def test_what_does_not_hang_stays_as_it_is(kind):
    free, soft = (rows_of([SOFT[kind]], rigid_departure=share)[0] for share in (0, 1e-3))
    np.testing.assert_array_equal(soft, free)


def test_a_card_with_wanted_weights_is_left_alone():
    (rows,) = rows_of([card(**LONG)], constraints=([FIRST + 3], [HIPS], [0.5]))
    assert not is_one_row(rows)


def test_images_hang_on_images():
    """Cards on both sides of the plane x = 0, and one across it."""
    left = card(0.4, **LONG)
    right = left[0] * [-1, 1, 1], left[1][:, ::-1]
    middle = card(np.pi / 2, **LONG)
    mesh = shapes.join(BODY, left, right, middle)
    symmetry = np.arange(3), (0, 0, 0), (1, 0, 0)
    solver = shapes.solve(mesh, BONES, symmetry=symmetry, precision="double")
    rows = solver.weights[FIRST:].reshape(3, -1, 3)
    np.testing.assert_array_equal(rows[0], rows[1])
    for own in rows:
        assert is_one_row(own)
        assert own[0, HEAD] > 0.9


def test_threads_change_nothing():
    parts = [card(0.3 * k, **LONG) for k in range(4)]
    one, three = (np.concatenate(rows_of(parts, threads=n)) for n in (1, 3))
    np.testing.assert_array_equal(one, three)
