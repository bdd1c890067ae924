"""A part between several branches of bones follows the bone from which they descend."""

import numpy as np
import pytest
import shapes

SIDES = 12


def ring(wheel, count=SIDES, radius=1.0, own=()):
    """A hull above a ring of plates, each with a bone that starts at its plate, and a part inside
    the ring: (mesh, bones, corners of each part)."""
    angles = 2 * np.pi * np.arange(count) / count
    at = radius * np.stack([np.cos(angles), np.zeros(count), np.sin(angles)], axis=1)
    hull = shapes.box((1.0, 1.0, 1.0), (0, 0, 4.0))
    plates = [shapes.box((0.16, 0.5, 0.16), 1.1 * center) for center in at]
    heads = np.concatenate([[(0, 0, 3.6)], at])
    tails = np.concatenate([[(0, 0, 4.4)], 1.1 * at])
    bones = shapes.Bones(
        heads,
        tails,
        np.array([-1] + [0] * count),
        roll_axes=np.tile([0.0, 1, 0], (count + 1, 1)),
    )
    return shapes.join(hull, *plates, *own, wheel), bones


def solved_from(mesh, bones, owners, **settings):
    """Solves from weights in which each part of the given number of vertices follows only this
    bone."""
    start = np.concatenate([np.tile(np.eye(len(bones))[bone], (n, 1)) for n, bone in owners])
    return shapes.solve_from(mesh, bones, start, **settings)


def plates(count=SIDES):
    return [(8, bone) for bone in range(count + 1)]


@pytest.mark.parametrize("bone", [1, 4, SIDES])
def test_a_wheel_inside_a_track_follows_the_hull(bone):
    """It starts on the bone of one plate, which moves it just as rigidly."""
    wheel = shapes.sphere(7, 10, 0.5)
    mesh, bones = ring(wheel)
    rows = solved_from(mesh, bones, [*plates(), (len(wheel[0]), bone)])
    assert (rows[-len(wheel[0]) :, 0] == 1).all()
    for plate in range(SIDES):
        assert (rows[8 * (plate + 1) : 8 * (plate + 2), plate + 1] == 1).all()


@pytest.mark.parametrize("radius", [0.8, 1.04])
def test_a_wheel_that_would_bend_with_a_track(radius):
    """The wheel is rigid on the hull, which it follows most. Each of its vertices follows another
    plate more, but none of these plates' bones has other skin. The larger wheel surrounds
    joints."""
    wheel = shapes.sphere(7, 12, radius)
    mesh, bones = ring(wheel)
    start = np.repeat(np.eye(SIDES + 1), 8, axis=0)
    near = np.linalg.norm(wheel[0][:, None] - bones.heads[1:], axis=2).argmin(1)
    near = np.eye(SIDES + 1)[near + 1]
    start = np.concatenate([start, 0.45 * np.eye(SIDES + 1)[0] + 0.55 * near])
    weights = shapes.solve_from(mesh, bones, start, rigid_departure=0.01)
    assert (weights[-len(wheel[0]) :, 0] == 1).all()


def test_a_bone_keeps_its_only_plate():
    """The bones of a track start in pairs, on the line through its middle, so a plate is as near to
    the bone of the plate above or below as to its own, and so is a bolt."""
    count = 12
    x = np.repeat(np.arange(count // 2), 2) * 0.12
    up = np.tile([1.0, -1], count // 2)
    heads = np.stack([x, 0 * x, 0 * x], axis=1)
    tails = heads + np.stack([0 * x, 0 * x, 0.02 * up], axis=1)
    hull = shapes.box((0.8, 0.5, 0.4), (x.mean(), 0, 2.0))
    links = [shapes.box((0.1, 0.5, 0.1), (a, 0, 0.3 * b)) for a, b in zip(x, up, strict=True)]
    bolt = shapes.box((0.3, 0.4, 0.2), (x[4], 0, 0.5))
    bones = shapes.Bones(
        np.concatenate([[(x.mean(), 0, 1.8)], heads]),
        np.concatenate([[(x.mean(), 0, 2.2)], tails]),
        np.array([-1] + [0] * count),
        roll_axes=np.tile([0.0, 1, 0], (count + 1, 1)),
    )
    rows = solved_from(shapes.join(hull, *links, bolt), bones, [*plates(count), (8, 5)])
    owners = rows.reshape(count + 2, 8, -1).argmax(2)
    np.testing.assert_array_equal(owners, np.repeat([[*range(count + 1), 0]], 8, axis=0).T)


def test_the_shell_of_a_hand_follows_the_hand():
    """The shell lies over the first bones of four fingers but follows the hand."""
    arm = shapes.box((1.6, 0.3, 0.3), (-1.0, 0, 0))
    parts, heads, tails, parents = [arm], [(-1.8, 0, 0)], [(-0.1, 0, 0)], [-1]
    for finger in range(4):
        y = 0.2 * (finger - 1.5)
        heads += [(0, 0.3 * y, 0), (0.5, y, 0)]
        tails += [(0.5, y, 0), (1.1, y, 0)]
        parents += [0, len(heads) - 2]
        parts.append(shapes.box((0.4, 0.1, 0.1), (0.3, 0.7 * y, 0)))
        parts.append(shapes.box((0.5, 0.1, 0.1), (0.85, y, 0)))
    shell = shapes.box((0.4, 0.8, 0.05), (0.3, 0, 0.25))
    bones = shapes.Bones(
        np.array(heads, float),
        np.array(tails, float),
        np.array(parents),
        roll_axes=np.tile([0.0, 0, 1], (len(heads), 1)),
    )
    owners = [*plates(8), (8, 3)]
    rows = solved_from(shapes.join(*parts, shell), bones, owners)
    np.testing.assert_array_equal(rows.reshape(10, 8, -1).argmax(2)[:, 0], [*range(9), 0])


def test_a_part_far_from_all_bones_is_not_between_them():
    """A bead far outside the track is about equally far from many of its bones."""
    bead = shapes.sphere(5, 8, 0.1, (6.0, 0, 0))
    mesh, bones = ring(bead)
    rows = solved_from(mesh, bones, [*plates(), (len(bead[0]), 1)])
    assert (rows[-len(bead[0]) :, 0] == 0).all()


def test_cloth_between_branches_still_bends():
    """A round cloth lies over the soft arms of a starfish."""
    angles = 2 * np.pi * np.arange(5) / 5
    way = np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)
    arms = []
    for w in way:
        tube = shapes.tube(8, 9, 0.1, 0.9, caps=True)
        turn = np.column_stack([(-w[1], w[0], 0), (0, 0, 1), w])
        arms.append((tube[0] @ turn.T + 0.15 * w, tube[1]))
    cloth = shapes.sphere(9, 20, 0.6)
    cloth = cloth[0] * (1, 1, 0.02) + (0, 0, 0.18), cloth[1]
    joints = np.concatenate([0.15 * way, 0.6 * way])
    bones = shapes.Bones(
        np.concatenate([[(0, 0, -0.1)], joints]),
        np.concatenate([[(0, 0, 0)], 0.6 * way, 1.05 * way]),
        np.array([-1] + [0] * 5 + [1, 2, 3, 4, 5]),
        roll_axes=np.tile([0.0, 0.1, 1], (11, 1)),
    )
    near = np.argmin(np.linalg.norm(cloth[0][:, None] - 0.35 * way, axis=2), axis=1)
    owners = [(len(v), k + 1) for k, (v, _) in enumerate(arms)] + [(1, k + 1) for k in near]
    weights = solved_from(shapes.join(*arms, cloth), bones, owners)
    assert np.ptp(weights[-len(cloth[0]) :], axis=0).max() > 0.2


def test_a_wheel_does_not_follow_a_hull_that_is_forbidden():
    wheel = shapes.sphere(7, 10, 0.5)
    mesh, bones = ring(wheel)
    own = np.arange(len(mesh[0]) - len(wheel[0]), len(mesh[0]))
    forbidden = own, np.zeros(len(own), int), np.zeros(len(own), bool)
    rows = solved_from(mesh, bones, [*plates(), (len(own), 4)], influences=forbidden)
    assert not rows[own, 0].any()
