"""Balls in joints all follow the same side, each plate in a row has its own bone, and a box among
boxes follows the bone that it surrounds."""

import numpy as np
import pytest
import shapes


def mannequin(wrist=1):
    """An upper arm, a forearm and this many fingers along X, of loose shells, with a ball in each
    joint as the last two parts; for both ends of X, the two arms of a trunk."""
    trunk = shapes.sphere(7, 10, 0.6)
    parts, heads, tails, parents = [trunk], [(0, 0, -0.3)], [(0, 0, 0.3)], [-1]
    balls, expected = [], []
    for side in (1, -1):
        first = len(heads)
        arm = [(0.8, 0), (1.8, 0), (2.8, 0)]
        ends = [(3.3, 0.4 * (k - (wrist - 1) / 2)) for k in range(wrist)]
        chain = [(*arm[0], *arm[1], 0), (*arm[1], *arm[2], first)]
        chain += [(*arm[2], *end, first + 1) for end in ends]
        for ax, ay, bx, by, parent in chain:
            heads.append((side * ax, ay, 0))
            tails.append((side * bx, by, 0))
            parents.append(parent)
            way = np.array([side * (bx - ax), by - ay, 0.0])
            length = np.linalg.norm(way)
            turn = turn_to(way / length)
            vertices, triangles = shapes.tube(8, 6, 0.1, 0.6 * length, caps=True)
            at = np.array([side * ax, ay, 0]) + 0.2 * way
            parts.append((vertices @ turn.T + at, triangles))
        for joint, bone in ((arm[1], first + 1), (arm[2], first + 2 if wrist == 1 else first + 1)):
            balls.append(shapes.sphere(7, 10, 0.16, (side * joint[0], joint[1], 0)))
            expected.append(bone)
    bones = shapes.Bones(
        np.array(heads, float),
        np.array(tails, float),
        np.array(parents),
        roll_axes=np.tile([0.0, 0.1, 1], (len(heads), 1)),
    )
    return shapes.join(*parts, *balls), bones, balls, expected


def turn_to(way):
    """A rotation of Z to a direction in the plane of X and Y."""
    return np.column_stack([(-way[1], way[0], 0), (0, 0, 1), way])


@pytest.mark.parametrize("seed", range(4))
def test_balls_in_wrists_follow_the_arm(seed):
    """Balls in wrists follow the arm, because several bones start at a wrist."""
    mesh, bones, balls, expected = mannequin(3)
    solver = shapes.solve(mesh, bones, precision="double", seed=seed)
    size = len(balls[0][0])
    rows = solver.weights[-size * len(balls) :].reshape(len(balls), size, len(bones))
    for ball, bone in list(zip(rows, expected, strict=True))[1::2]:
        assert (ball == np.eye(len(bones))[bone]).all()


def solved_from(mesh, bones, owners, **settings):
    """(parts, vertices, bones) of weights found from those in which parts of equal numbers of
    vertices follow these bones."""
    start = np.repeat(np.eye(len(bones))[owners], len(mesh[0]) // len(owners), axis=0)
    rows = shapes.solve_from(mesh, bones, start, **settings)
    return rows.reshape(len(owners), -1, len(bones))


@pytest.mark.parametrize("most", [0, -1])
def test_balls_go_the_way_that_most_of_them_go(most):
    """Balls follow the bones that end in their joints if most balls already do. Otherwise, they
    follow the bones that start there, because an artist puts all balls of a figure on the same kind
    of bone."""
    _mesh, bones = spine = doll()
    count = len(bones) - 1
    for odd in (0, 3):
        for few in (1, 2, count // 2):
            owners = np.arange(count) + 1 + most
            owners[odd : odd + few] += 1 if most else -1
            rows = solved_from(*spine, [*range(len(bones)), *owners])[len(bones) :]
            expected = np.arange(count) + 1 + (most if few < count // 2 else 0)
            np.testing.assert_array_equal(rows[:, 0].argmax(1), expected)


def doll(count=7):
    """A chain of loose balls, each around a bone, with smaller ones in the joints."""
    bones = shapes.chain(count, 1.0 * count)
    limbs = [shapes.sphere(5, 8, 0.2, (0, 0, k + 0.5)) for k in range(count)]
    limbs = [
        ((v - (0, 0, k + 0.5)) * (1, 1, 1.6) + (0, 0, k + 0.5), t) for k, (v, t) in enumerate(limbs)
    ]
    return shapes.join(
        *limbs, *(shapes.sphere(5, 8, 0.15, (0, 0, k)) for k in range(1, count))
    ), bones


def test_a_ball_at_a_bone_whose_parent_ends_elsewhere():
    """A hip apart from the trunk's bone: the ball around its start follows the leg."""
    trunk = shapes.sphere(7, 10, 0.6)
    hip = shapes.sphere(7, 10, 0.3, (1.2, 0, 0))
    leg = shapes.tube(8, 6, 0.12, 1.2, caps=True)
    leg = leg[0] + (1.2, 0, 0.35), leg[1]
    heads = np.array([(0, 0, -0.5), (1.2, 0, 0)])
    tails = np.array([(0, 0, 0.5), (1.2, 0, 1.6)])
    bones = shapes.Bones(heads, tails, np.arange(2) - 1, roll_axes=np.tile([0.0, 1, 0], (2, 1)))
    solver = shapes.solve(shapes.join(trunk, leg, hip), bones, precision="double")
    assert (solver.weights[-len(hip[0]) :] == [0, 1]).all()


def test_a_head_is_no_ball_in_the_joint_of_its_jaw():
    """The jaw begins in the middle of the head, and a bone of the neck ends there."""
    body = shapes.tube(10, 9, 0.2, 1.6, caps=True)
    head = shapes.sphere(9, 14, 0.5, (0, 0, 2.0))
    jaw = shapes.box((0.2, 0.4, 0.1), (0, 0.5, 1.85))
    heads = np.array([(0, 0, 0), (0, 0, 1.0), (0, 0, 2.0)], float)
    tails = np.array([(0, 0, 1.0), (0, 0, 2.0), (0, 0.6, 1.9)], float)
    rolls = np.array([(0, 1, 0), (0, 1, 0), (0, 0, 1)], float)
    bones = shapes.Bones(heads, tails, np.arange(3) - 1, roll_axes=rolls)
    first = len(body[0])
    solver = shapes.solve(shapes.join(body, head, jaw), bones, precision="double")
    free = shapes.solve(shapes.join(body, head, jaw), bones, precision="double", rigid_departure=0)
    own = slice(first, first + len(head[0]))
    assert np.abs(solver.weights - free.weights)[own].max() < 0.3
    assert np.ptp(solver.weights[own, 2]) > 0.5, "not one row"


def track(count=5):
    """A hull on a root, with a row of plates below it. Each plate has a bone that starts at the
    side of the hull and ends before the plate."""
    x = np.arange(count) * 0.35
    hull = shapes.box((0.35 * count, 0.5, 0.4), (x.mean(), 0, 0.4))
    plates = [shapes.box((0.3, 0.5, 0.1), (at, 0, -0.45)) for at in x]
    heads = [(x[0], 0, 0.4), *((at, 0, 0) for at in x)]
    tails = [(x[-1], 0, 0.4), *((at, 0, -0.2) for at in x)]
    rolls = np.tile([0.0, 1, 0], (count + 1, 1))
    parents = np.array([-1] + [0] * count)
    bones = shapes.Bones(np.array(heads), np.array(tails), parents, roll_axes=rolls)
    return shapes.join(hull, *plates), bones


def test_a_plate_goes_back_to_the_bone_that_has_no_other():
    """It moves just as rigidly with its neighbor's bone, so the energy does not decide."""
    mesh, bones = track()
    rows = solved_from(mesh, bones, [0, 1, 2, 2, 4, 0])
    np.testing.assert_array_equal(rows, np.repeat(np.eye(6)[:, None], 8, 1))


@pytest.mark.parametrize(("share", "own"), [(0.4, 3), (0.6, 2)])
def test_a_share_of_soft_skin_is_no_part(share, own):
    """A hull bends slightly with the bone of a plate below it: the bone still has no part, unless
    it leads skin of the hull."""
    mesh, bones = track()
    start = np.repeat(np.eye(6)[[0, 1, 2, 2, 4, 5]], 8, axis=0)
    start[0, [0, 3]] = 1 - share, share
    hull = np.arange(len(start)) < 8
    weights = shapes.solve_from(mesh, bones, start, locked_vertices=hull)
    assert (weights[24:32] == np.eye(6)[own]).all()


def test_no_bone_loses_its_only_plate():
    mesh, bones = track()
    helper = shapes.Bones(
        np.r_[bones.heads, bones.heads[2:3]],
        np.r_[bones.tails, bones.tails[2:3] - (0, 0, 0.2)],
        np.r_[bones.parents, 0],
        roll_axes=np.r_[bones.roll_axes, bones.roll_axes[:1]],
    )
    rows = solved_from(mesh, helper, np.arange(6))
    np.testing.assert_array_equal(rows, np.repeat(np.eye(7)[:6, None], 8, 1))


def test_no_bone_takes_what_is_far_from_it():
    """The nearer of two bones in one soft ear has lost its skin. The eyes stay on the head."""
    head = shapes.sphere(11, 16, 0.5, (0, 0, 1.0))
    eye = shapes.box((0.06, 0.06, 0.06), (0.2, 0.47, 1.05))
    ear = shapes.box((0.15, 0.1, 0.5), (0.3, 0, 1.7))
    heads = np.array([(0, 0, 0.5), (0.3, 0.1, 1.35), (0.3, 0, 1.5)], float)
    tails = np.array([(0, 0, 0.9), (0.3, 0.1, 1.45), (0.3, 0, 1.9)], float)
    rolls = np.tile([0.0, 1, 0], (3, 1))
    bones = shapes.Bones(heads, tails, np.array([-1, 0, 1]), roll_axes=rolls)
    solver = shapes.solve(shapes.join(head, eye, ear), bones, precision="double", response=0)
    own = slice(len(head[0]), len(head[0]) + 8)
    assert (solver.weights[own, 0] == 1).all()


def test_boxes_go_with_the_bone_that_they_are_around():
    """A trunk, a neck and a head of boxes; the bone of the trunk ends in the neck, and those of the
    legs start in the trunk."""
    mesh = shapes.join(
        shapes.box((1, 2.4, 1), (0, 0, 0)),
        shapes.box((0.4, 2.0, 1.2), (0, 1.2, 0.5)),
        shapes.box((0.5, 0.9, 0.4), (0, 2.6, 0.9)),
        shapes.box((0.25, 0.25, 1.2), (0.35, 0.9, -0.9)),
        shapes.box((0.25, 0.25, 1.2), (-0.35, 0.9, -0.9)),
    )
    heads = [(0, -1.0, 0), (0, 1.0, 0.35), (0, 2.2, 0.9), (0.35, 0.9, 0.2), (-0.35, 0.9, 0.2)]
    tails = [(0, 1.3, 0.3), (0, 2.1, 0.8), (0, 3.0, 0.9), (0.35, 0.9, -1.5), (-0.35, 0.9, -1.5)]
    rolls = np.tile([1.0, 0, 0], (5, 1))
    bones = shapes.Bones(
        np.array(heads), np.array(tails), np.array([-1, 0, 1, 0, 0]), roll_axes=rolls
    )
    rows = solved_from(mesh, bones, [0, 0, 2, 3, 4])
    np.testing.assert_array_equal(rows, np.repeat(np.eye(5)[:, None], 8, 1))


def test_a_cuff_stays_where_a_person_has_it():
    """It surrounds only the bone of the shin, and follows the thigh in the weights from which the
    solver starts."""
    leg = shapes.tube(10, 13)
    cuff = shapes.tube(10, 3, 0.3, 0.5)
    cuff = cuff[0] + (0, 0, 1.35), cuff[1]
    mesh, bones = shapes.join(leg, cuff), shapes.chain(2)
    first = len(leg[0])
    start = np.eye(2)[(mesh[0][:, 2] > 1).astype(int)]
    start[first:] = np.eye(2)[0]
    assert (shapes.solve_from(mesh, bones, start)[first:] == np.eye(2)[0]).all()


def forbidden(vertices, bone):
    return vertices, np.full(len(vertices), bone), np.zeros(len(vertices), bool)


def test_no_part_follows_a_bone_that_is_forbidden():
    """A ball in a joint, the only plate for a bone, and a box around a bone."""
    mesh, bones, balls, expected = mannequin()
    size = len(balls[0][0])
    ball = np.arange(len(mesh[0]) - 4 * size, len(mesh[0]) - 3 * size)
    solver = shapes.solve(mesh, bones, influences=forbidden(ball, expected[0]))
    assert not solver.weights[ball, expected[0]].any()
    mesh, bones = track()
    plate = np.arange(24, 32)
    rows = solved_from(mesh, bones, [0, 1, 2, 2, 4, 0], influences=forbidden(plate, 3))
    assert not rows[3, :, 3].any() and not rows[4, :, 3].any()
    tube, box = shapes.tube(10, 13), shapes.box((0.6, 0.6, 0.3), (0, 0, 0.5))
    own = np.arange(len(tube[0]), len(tube[0]) + 8)
    solver = shapes.solve(shapes.join(tube, box), shapes.chain(3), influences=forbidden(own, 0))
    assert not solver.weights[own, 0].any()
