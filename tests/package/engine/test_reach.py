"""Inverse kinematics, the chains of a skeleton, and sampled poses in which limbs reach for
targets."""

import araplbs
import numpy as np
import pytest
import shapes
from refusals import row, table
from shared_data import Character
from test_poses import MIRROR, SWING, TWIST, local_turns, swing_and_twist
from test_threads import run_all

METHODS = ("fabrik", "ccd", "jacobian")
FREE = {"swing": np.pi, "twist": np.pi}


def arm(*lengths, bend=0.3):
    """Bones end to end in the plane YZ, each bent by the same angle relative to the one before;
    roll axes are across the plane, so Z is the axis of the bends."""
    angles = bend * np.arange(len(lengths))
    steps = np.array(lengths)[:, None] * np.column_stack(
        [np.zeros(len(lengths)), np.sin(angles), np.cos(angles)]
    )
    joints = np.concatenate([np.zeros((1, 3)), np.cumsum(steps, 0)])
    return shapes.Bones(
        joints[:-1],
        joints[1:],
        np.arange(len(lengths)) - 1,
        roll_axes=np.tile([1.0, 0, 0], (len(lengths), 1)),
    )


def merged(*skeletons):
    """(skeleton, parent in another skeleton, or -1), combined into one."""
    heads, tails, parents, rolls, count = [], [], [], [], 0
    for bones, parent in skeletons:
        heads.append(bones.heads)
        tails.append(bones.tails)
        parents.append(np.where(bones.parents < 0, parent, bones.parents + count))
        rolls.append(bones.roll_axes)
        count += len(bones)
    return shapes.Bones(*map(np.concatenate, (heads, tails, parents, rolls)))


def creature():
    """A trunk with two arms of three fingers each, two legs, and a neck; left and right are images
    in the plane x = 0."""
    trunk = shapes.chain(3, 1.5)
    upper = arm(0.6, 0.5, 0.15).moved(shapes.rotation([0, 1, 0], np.pi / 2), (0.1, 0, 1.5))
    hand = upper.tails[-1]
    fingers = [
        arm(0.12, 0.1, 0.08).moved(
            shapes.rotation([0, 0, 1], a) @ shapes.rotation([0, 1, 0], np.pi / 2), hand
        )
        for a in (-0.4, 0, 0.4)
    ]
    leg = arm(0.9, 0.8, bend=-0.2).moved(np.diag([1, 1, -1.0]), (0.2, 0, 0))
    leg = leg.but(roll_axes=-leg.roll_axes)
    neck = shapes.chain(2, 0.5).moved(np.eye(3), (0, 0, 1.5))
    side = [(upper, 2)] + [(f, None) for f in fingers] + [(leg, 0)]
    parts, partners, count = [(trunk, -1), (neck, 2)], [0, 1, 2, 3, 4], 5
    size = sum(len(b) for b, _ in side)
    for mirrored in (False, True):
        first = count
        for bones, parent in side:
            moved = bones.moved(MIRROR) if mirrored else bones
            parts.append((moved, first + 2 if parent is None else parent))
            partners += [
                b + (-size if mirrored else size) for b in range(count, count + len(bones))
            ]
            count += len(bones)
    return merged(*parts), np.array(partners)


def effectors(bones, rotations, bone):
    poses = araplbs.forward_kinematics(*bones, rotations)
    return poses[:, bone, :, :3] @ bones.tails[bone] + poses[:, bone, :, 3], poses


def solve(bones, targets, effector=None, **settings):
    effector = len(bones) - 1 if effector is None else effector
    return araplbs.inverse_kinematics(
        *bones, effector, targets, **({"bone_roll_axes": bones.roll_axes} | settings)
    )


def in_the_shell(rng, bones, count):
    """Targets within reach of the chain, in all directions."""
    lengths = np.linalg.norm(bones.tails - bones.heads, axis=1)
    least = max(2 * lengths.max() - lengths.sum(), 0)
    way = rng.normal(size=(count, 3))
    way /= np.linalg.norm(way, axis=1, keepdims=True)
    share = rng.uniform(0.1, 0.9, (count, 1))
    return bones.heads[0] + way * (least + share * (lengths.sum() - least))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("lengths", [(1, 1), (1, 0.4), (0.5, 1, 0.7), (1, 1, 1, 0.5, 0.5, 0.3)])
def test_what_can_be_reached_is_reached(rng, method, lengths):
    bones = arm(*lengths)
    targets = in_the_shell(rng, bones, 60)
    rotations, error, iterations = solve(
        bones, targets, method=method, tolerance=1e-4, iterations=200, **FREE
    )
    places, poses = effectors(bones, rotations, len(bones) - 1)
    np.testing.assert_allclose(np.linalg.norm(places - targets, axis=1), error, atol=1e-12)
    assert error.max() <= 1e-4 * sum(lengths)
    assert 0 < iterations.max() <= 200
    # Bones keep their lengths, and hang together.
    ends = np.einsum("pbij,bj->pbi", poses[..., :3], bones.tails) + poses[..., 3]
    starts = np.einsum("pbij,bj->pbi", poses[..., :3], bones.heads) + poses[..., 3]
    np.testing.assert_allclose(
        np.linalg.norm(ends - starts, axis=2), np.tile(lengths, (60, 1)), atol=1e-12
    )
    np.testing.assert_allclose(ends[:, :-1], starts[:, 1:], atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_two_bones_bend_as_the_law_of_cosines_says(rng, method):
    a, b = 1.0, 0.7
    bones = arm(a, b)
    targets = in_the_shell(rng, bones, 40)
    rotations, error, _ = solve(bones, targets, method=method, tolerance=1e-7, **FREE)
    assert error.max() <= 1e-7 * (a + b)
    _, poses = effectors(bones, rotations, 1)
    ways = np.einsum("pbij,bj->pbi", poses[..., :3], bones.tails - bones.heads)
    cosine = (ways[:, 0] * ways[:, 1]).sum(1) / (a * b)
    distance2 = (targets**2).sum(1)
    np.testing.assert_allclose(cosine, (distance2 - a * a - b * b) / (2 * a * b), atol=1e-5)


@pytest.mark.parametrize(("method", "off"), [("fabrik", 1e-9), ("ccd", 2e-2), ("jacobian", 2e-2)])
def test_what_is_too_far_is_pointed_at(rng, method, off):
    bones = arm(0.6, 0.5, 0.4)
    targets = 4 * rng.normal(size=(30, 3))
    targets = targets[np.linalg.norm(targets, axis=1) > 1.6]
    _, error, _ = solve(bones, targets, method=method, iterations=400, **FREE)
    left = np.linalg.norm(targets, axis=1) - 1.5
    assert (error >= left - 1e-9).all()
    np.testing.assert_allclose(error, left, atol=off)


@pytest.mark.parametrize("method", METHODS)
def test_a_straight_chain_bends_to_a_target_on_its_line(method):
    bones = arm(1, 1, 1, bend=0)
    _, error, _ = solve(bones, [[0, 0, 2.0]], method=method, **FREE)
    assert error[0] <= 3e-3


@pytest.mark.parametrize("method", METHODS)
def test_limits_are_kept_and_targets_within_them_reached(rng, method):
    """The targets come from poses within the limits."""
    bones = arm(0.6, 0.5, 0.4)
    limits = np.full((3, 3, 2), np.nan)
    limits[1] = [[-0.05, 0.05], [0, 0], [0, 2]]  # a hinge that bends one way
    bones.limits = limits
    sampled = sample(bones, 200, swing=0.8, twist=0.2)
    targets = sampled[:, 2, :, :3] @ bones.tails[2] + sampled[:, 2, :, 3]
    rotations, error, _ = solve(
        bones, targets, bone_limits=limits, method=method, swing=0.8, twist=0.2
    )
    _, poses = effectors(bones, rotations, 2)
    swing, twist = swing_and_twist(local_turns(bones, poses))
    assert np.linalg.norm(swing[:, [0, 2]], axis=-1).max() <= 0.8 + 1e-9
    assert np.abs(twist[:, [0, 2]]).max() <= 0.2 + 1e-9
    assert swing[:, 1, 0].min() >= -0.05 - 1e-9
    assert swing[:, 1, 0].max() <= 0.05 + 1e-9
    assert swing[:, 1, 1].min() >= -1e-9
    assert swing[:, 1, 1].max() <= 2 + 1e-9
    np.testing.assert_allclose(twist[:, 1], 0, atol=1e-7)
    # Joints at the ends of their ranges hold up all methods, coordinate descent the least.
    assert (error < 2e-3).mean() > (0.9 if method == "ccd" else 0.6)


def test_a_part_of_the_chain():
    """Only the last two of four bones rotate."""
    bones = arm(1, 1, 1, 1)
    target = bones.heads[2] + 0.7 * (bones.tails[3] - bones.heads[2])
    rotations, error, _ = solve(bones, [target], chain_count=2, **FREE)
    assert error[0] < 2e-3
    np.testing.assert_array_equal(rotations[0, :2], np.tile(np.eye(3), (2, 1, 1)))
    assert np.abs(rotations[0, 2:] - np.eye(3)).max() > 0.01
    branch, _, _ = solve(bones, [bones.tails[1] + [0, 0.1, 0]], effector=1, **FREE)
    np.testing.assert_array_equal(branch[0, 2:], np.tile(np.eye(3), (2, 1, 1)))


def test_a_target_that_is_reached_at_rest_costs_nothing():
    bones = arm(1, 1)
    rotations, error, iterations = solve(bones, [bones.tails[-1]])
    np.testing.assert_allclose(rotations[0], np.tile(np.eye(3), (2, 1, 1)), atol=1e-15)
    assert error[0] < 1e-15
    assert iterations[0] == 0
    assert solve(bones, np.zeros((0, 3)))[0].shape == (0, 2, 3, 3)


REACHING = {"bone_heads": arm(1, 1, 1).heads, "bone_tails": arm(1, 1, 1).tails}
REACHING |= {"bone_parents": [-1, 0, 1], "effector": 2, "targets": [[0, 0, 1.0]]}
test_bad_input_of_inverse_kinematics = table(
    araplbs.inverse_kinematics,
    REACHING,
    row("effector is 3, but there are 3 bones", effector=3),
    row("effector is -1, but", effector=-1),
    row("effector is 'hand': must be an integer", effector="hand", kind=TypeError),
    row("chain_count is -1: must be 0 or more", chain_count=-1),
    row("method is 'spring': must be 'fabrik', 'ccd' or", method="spring"),
    row("tolerance is -1: must be from 0 to 1", tolerance=-1),
    row("tolerance is nan: must be", tolerance=np.nan),
    row("iterations is -1: must be from 0", iterations=-1),
    row("swing is 4: must be", swing=4),
    row("twist is -1: must be", twist=-1),
    row(r"targets\[0, 2\] is nan: not finite", targets=[[0, 0, np.nan]]),
    row(r"targets\[1, 0\] is 1e\+154: too far away", targets=[[0, 0, 1], [1e154, 0, 0]]),
    row("targets", targets=[0, 0, 1]),
    row("bone_limits", bone_limits=np.zeros((2, 3, 2))),
)


@pytest.mark.parametrize("method", ["fabrik", "ccd", "jacobian"])
@pytest.mark.parametrize("far", [1e9, 1e40, 1e75])
def test_targets_far_off(method, far):
    """The chain is stretched toward them, and the error is the remaining distance."""
    targets = [[0, 0, far], [far, -far, 0], [far, far, far]]
    given = REACHING | {"targets": targets}
    rotations, errors, _ = araplbs.inverse_kinematics(**given, method=method)
    assert np.isfinite(rotations).all()
    np.testing.assert_allclose(errors, np.linalg.norm(targets, axis=1), rtol=1e-6)


def test_a_chain_without_length_is_refused():
    with pytest.raises(ValueError, match="the chain of bone 0 has no length"):
        araplbs.inverse_kinematics([[0, 0, 0.0]], [[0, 0, 0.0]], [-1], 0, [[0, 0, 1.0]])


def chains_of(bones):
    found = araplbs.reach_chains(*bones, bone_deform=bones.deform)
    return [(ids.tolist(), effector) for ids, effector in found]


def test_chains_of_a_creature():
    """Arms end at the wrist. Fingers, legs and the neck are chains of their own. The trunk is not a
    chain, because only one of its bones is between hips and chest."""
    bones, partners = creature()
    found = chains_of(bones)
    lists = [ids for ids, _ in found]
    assert [5, 6] in lists  # without the hand, bone 7
    assert [8, 9, 10] in lists
    assert [3, 4] in lists
    assert [17, 18] in lists
    assert len(lists) == 2 * 5 + 1
    arm_end = next(effector for ids, effector in found if ids == [5, 6])
    np.testing.assert_allclose(arm_end, bones.heads[7])
    finger_end = next(effector for ids, effector in found if ids == [8, 9, 10])
    np.testing.assert_allclose(finger_end, bones.tails[10])
    images = {tuple(partners[ids]) for ids in lists}
    assert images == {tuple(ids) for ids in lists}


def test_short_side_bones_end_no_chain():
    main = arm(1, 1, 1)
    twist = arm(0.4).moved(np.eye(3), main.heads[1])
    bones = merged((main, -1), (twist, 1))
    assert [ids for ids, _ in chains_of(bones)] == [[0, 1, 2]]
    as_long = arm(0.5, 0.5).moved(np.eye(3), main.heads[2])
    assert [2] not in [ids for ids, _ in chains_of(merged((main, -1), (as_long, 1)))]
    assert [0, 1, 2] not in [ids for ids, _ in chains_of(merged((main, -1), (as_long, 1)))]


def test_what_does_not_deform_is_in_no_chain():
    bones = arm(1, 1, 1, 1)
    bones.deform = np.array([True, True, False, True])
    assert [ids for ids, _ in chains_of(bones)] == [[0, 1, 3]]
    bones.deform = np.array([True, False, False, False])
    assert chains_of(bones) == []


def sample(bones, count, **settings):
    return araplbs.sample_poses(*bones, count, **bones.more, **settings)


def test_without_reach_poses_are_what_they_were():
    bones, _ = creature()
    np.testing.assert_array_equal(sample(bones, 9), sample(bones, 9, reach_poses=0.0))


@pytest.mark.parametrize(("share", "reaching"), [(0.3, 3), (0.5, 5), (1, 10), (0.04, 0)])
def test_the_last_pairs_reach(share, reaching):
    """In the others, every bone covers its range as evenly as if there were no other poses."""
    bones, _ = creature()
    poses = sample(bones, 20, reach_poses=share)
    others = 20 - 2 * reaching
    np.testing.assert_array_equal(poses[:others], sample(bones, others))
    assert np.abs(poses[others:] - sample(bones, 20)[others:]).max(initial=1) > 0.1


def test_reach_poses_hold_together_within_their_ranges():
    bones, _ = creature()
    bones.limits = np.full((len(bones), 3, 2), np.nan)
    bones.limits[6] = [[-0.1, 0.1], [-0.2, 0.3], [-0.2, 1.8]]
    poses = sample(bones, 60, reach_poses=1)
    turns = poses[..., :3]
    np.testing.assert_allclose(
        turns @ np.swapaxes(turns, 2, 3), np.broadcast_to(np.eye(3), turns.shape), atol=1e-12
    )
    child = np.flatnonzero(bones.parents >= 0)
    own, above = (
        np.einsum("pbij,bj->pbi", turns[:, b], bones.heads[child]) + poses[..., 3][:, b]
        for b in (child, bones.parents[child])
    )
    np.testing.assert_allclose(own, above, atol=1e-12)
    swing, twist = swing_and_twist(local_turns(bones, poses))
    free = np.setdiff1d(np.arange(len(bones)), [6])
    assert np.linalg.norm(swing[:, free], axis=-1).max() <= 1.5 * SWING + 1e-9
    assert np.linalg.norm(swing[:, 7], axis=-1).max() <= 0.3 * SWING + 1e-9  # of no chain
    assert np.abs(twist[:, free]).max() <= TWIST + 1e-9
    assert swing[:, 6, 0].min() >= -0.1 - 1e-9
    assert swing[:, 6, 0].max() <= 0.1 + 1e-9
    assert swing[:, 6, 1].min() >= -0.2 - 1e-9
    assert swing[:, 6, 1].max() <= 1.8 + 1e-9
    assert twist[:, 6].min() >= -0.2 - 1e-9
    assert twist[:, 6].max() <= 0.3 + 1e-9


def test_elbows_bend_to_the_side_that_they_are_bent_to():
    """About Z, far more than if every bone swings on its own, and hardly sideways."""
    bones = arm(1, 1)
    swing, _ = swing_and_twist(local_turns(bones, sample(bones, 80, reach_poses=1)))
    aside, bend = swing[:, 1].T
    rest = 0.3
    sign = np.sign(bend[np.abs(bend).argmax()])
    assert (sign * bend > -rest - 1e-2).all()  # not beyond straight
    assert np.abs(bend).max() > 1.2
    assert np.abs(aside).max() < 0.25
    assert np.std(np.linalg.norm(swing[:, 0], axis=-1)) > 0.2


def test_targets_fill_the_shell():
    """Targets of a free arm: far and near, all of them different."""
    bones = arm(1, 1, 1)
    poses = sample(bones, 80, reach_poses=1)
    places = poses[:, 2, :, :3] @ bones.tails[2] + poses[:, 2, :, 3]
    distances = np.sort(np.linalg.norm(places, axis=1))
    assert distances[-1] > 0.97 * 3
    assert distances[0] < 0.5 * 3
    assert np.diff(distances[::2]).max() < 0.15 * 3


def test_all_joints_of_a_limb_bend_together():
    """This never happens if every bone swings on its own."""
    bones = arm(1, 1, 1)
    both = [
        swing_and_twist(local_turns(bones, sample(bones, 80, reach_poses=share)))[0][:, 1:, 1]
        for share in (0, 1)
    ]
    alone, together = (np.corrcoef(bends.T)[0, 1] for bends in both)
    assert alone < 0.3
    assert together > 0.5


def test_limbs_with_hinges_reach_near_and_far():
    """Evenly from folded to stretched."""
    bones = arm(1, 1)
    bones.limits = np.full((2, 3, 2), np.nan)
    bones.limits[1] = [[0, 0], [0, 0], [-2, 0.3]]
    poses = sample(bones, 80, reach_poses=1, twist=1.0)
    places = poses[:, 1, :, :3] @ bones.tails[1] + poses[:, 1, :, 3]
    distances = np.sort(np.linalg.norm(places, axis=1)[::2])
    least, most = np.sqrt(2 + 2 * np.cos(2.3)), 2.0
    wanted = least + (most - least) * (np.arange(40) + 0.5) / 40  # evenly from near to far
    assert np.abs(distances - wanted).mean() < 0.05


@pytest.mark.parametrize("share", [0.5, 1])
def test_pairs_are_images_of_each_other(share):
    bones, partners = creature()
    symmetry = (partners, [0.0, 0, 0], [1.0, 0, 0])
    poses = sample(bones, 24, reach_poses=share, symmetry=symmetry)
    flip = np.diag([-1.0, 1, 1, 1])
    expected = MIRROR @ poses[::2] @ flip
    np.testing.assert_allclose(poses[1::2][:, partners], expected, atol=1e-12)


def test_a_mirrored_skeleton_reaches_as_in_a_mirror():
    bones, _ = creature()
    expected = MIRROR @ sample(bones, 12, reach_poses=1) @ np.diag([-1, 1, 1, 1])
    pairs = np.arange(12).reshape(-1, 2)[:, ::-1].ravel()
    got = sample(bones.moved(MIRROR), 12, reach_poses=1)[pairs]
    np.testing.assert_allclose(got, expected, atol=1e-9)


def test_a_turned_and_scaled_skeleton_reaches_alike():
    bones, _ = creature()
    turn = shapes.rotation([1, 2, 3], 1.1)
    poses = sample(bones, 6, reach_poses=1)
    turned = sample(bones.moved(3 * turn), 6, reach_poses=1)
    np.testing.assert_allclose(turned[..., :3], turn @ poses[..., :3] @ turn.T, atol=1e-9)
    np.testing.assert_allclose(turned[..., 3], 3 * poses[..., 3] @ turn.T, atol=1e-8)


def test_seeds_of_reach_poses():
    bones, _ = creature()
    poses = sample(bones, 8, seed=3, reach_poses=1)
    np.testing.assert_array_equal(poses, sample(bones, 8, seed=3, reach_poses=1))
    assert np.abs(poses - sample(bones, 8, seed=4, reach_poses=1)).max((1, 2, 3)).min() > 0.1


def test_threads_get_the_same_poses():
    bones, _ = creature()
    expected = sample(bones, 16, reach_poses=1)
    for poses in run_all(*[lambda: sample(bones, 16, reach_poses=1)] * 4):
        np.testing.assert_array_equal(poses, expected)


def test_a_solver_uses_the_reach_poses():
    mesh, bones = shapes.tube(6, 5), arm(0.7, 0.7, 0.6)
    solver = shapes.solver(mesh, bones, pose_count=6, reach_poses=0.5)
    transforms = solver._inside["transform"]
    poses = sample(bones, 6, reach_poses=0.5)
    np.testing.assert_allclose(transforms[..., :3], poses[..., :3], atol=1e-12)


def test_bends_come_on_top():
    """Bones that are not rigid reach like rigid ones."""
    bones = arm(1, 1, 1)
    bones.kinds = ["rigid", "spine", "rigid"]
    poses, bends = sample(bones, 6, reach_poses=1)
    assert np.abs(bends[:, 1, :3]).max() > 0.1
    plain = sample(bones.but(kinds=None), 6, reach_poses=1)
    np.testing.assert_array_equal(poses[:, :2], plain[:, :2])


@pytest.mark.parametrize("share", [-0.1, 1.1, np.nan])
def test_a_share_that_is_none(share):
    bones = arm(1, 1)
    text = f"reach_poses is {share:g}: must be from 0 to 1"
    with pytest.raises(ValueError, match=text):
        sample(bones, 4, reach_poses=share)
    with pytest.raises(ValueError, match=text):
        araplbs.Solver(*shapes.tube(), *bones, reach_poses=share)


def test_zero_length_bones_and_lone_points_reach():
    bones = arm(1, 1, 1)
    bones.tails[1] = bones.heads[1]
    bones.heads[2] = bones.tails[1]
    assert np.isfinite(sample(bones, 20, reach_poses=1)).all()
    point = shapes.Bones(np.zeros((1, 3)), np.zeros((1, 3)), np.array([-1]))
    assert np.isfinite(sample(point, 4, reach_poses=1)).all()


@pytest.mark.parametrize("name", ["cesium_man", "m2m_horse", "webxr_hand"])
def test_characters_reach(name):
    bones = Character(name).bones
    assert len(chains_of(bones)) >= 4
    poses = sample(bones, 20, reach_poses=1)
    assert np.isfinite(poses).all()
    np.testing.assert_allclose(np.linalg.det(poses[..., :3]), 1, atol=1e-9)
