"""Tests forward kinematics and sampled poses."""

import araplbs
import numpy as np
import pytest
import reference
import shapes

SWING, TWIST = np.radians(60), np.radians(10)
MIRROR = np.diag([-1.0, 1, 1])


def sample(bones, count, **settings):
    return araplbs.sample_poses(*bones, count, **bones.more, **settings)


def apply(transforms, points):
    return np.einsum("...ij,...j->...i", transforms[..., :3], points) + transforms[..., 3]


def local_turns(bones, poses):
    """Rotations (p, m, 3, 3) relative to the parent, in the axes X, Y (the bone) and Z (roll)."""
    parents = np.array(bones.parents)
    world = np.where(
        (parents >= 0)[None, :, None, None], poses[:, np.maximum(parents, 0), :, :3], np.eye(3)
    )
    y = bones.tails - bones.heads
    y = y / np.linalg.norm(y, axis=1, keepdims=True)
    z = bones.roll_axes - np.sum(bones.roll_axes * y, 1, keepdims=True) * y
    z = z / np.linalg.norm(z, axis=1, keepdims=True)
    axes = np.stack([np.cross(y, z), y, z], axis=2)
    back = np.swapaxes(world, 2, 3) @ poses[..., :3]
    return np.swapaxes(axes, 1, 2) @ back @ axes


def swing_and_twist(turns):
    """Rotation vector (x, z) of the swing and angle of the twist of swing * twist."""
    along = turns[..., :, 1]  # where Y goes
    angle = np.arccos(np.clip(along[..., 1], -1, 1))
    axis = np.stack([along[..., 2], -along[..., 0]], -1)  # Y x along, its x and z
    norm = np.linalg.norm(axis, axis=-1, keepdims=True)
    swing = axis / np.where(norm > 0, norm, 1) * angle[..., None]
    trace = np.trace(turns, axis1=-2, axis2=-1)
    w = np.sqrt(np.maximum(1 + trace, 0)) / 2
    y = (turns[..., 0, 2] - turns[..., 2, 0]) / (4 * w)
    return swing, 2 * np.arctan2(y, w)


def test_forward_kinematics_against_the_chain_rule(rng):
    bones = shapes.tree().but(deform=None)
    turns = shapes.random_rotations(rng, 3, len(bones))
    got = araplbs.forward_kinematics(*bones, turns)
    for p in range(3):
        chain = {-1: np.eye(4)}
        for b in range(len(bones)):  # parents come first in this tree
            about = np.eye(4)
            about[:3, :3] = turns[p, b]
            about[:3, 3] = bones.heads[b] - turns[p, b] @ bones.heads[b]
            chain[b] = chain[bones.parents[b]] @ about
            np.testing.assert_allclose(got[p, b], chain[b][:3], atol=1e-14)


def test_forward_kinematics_with_children_before_parents(rng):
    bones = shapes.chain(4)
    turns = shapes.random_rotations(rng, 2, 4)
    order = np.array([2, 0, 3, 1])
    place = np.argsort(order)
    parents = np.array([place[p] if p >= 0 else -1 for p in bones.parents[order]])
    shuffled = araplbs.forward_kinematics(
        bones.heads[order], bones.tails[order], parents, turns[:, order]
    )
    np.testing.assert_allclose(
        shuffled, araplbs.forward_kinematics(*bones, turns)[:, order], atol=1e-14
    )


def test_joints_stay_connected_and_bones_rigid():
    bones = shapes.tree()
    poses = sample(bones, 40, swing=2.0, twist=1.0)
    turns = poses[..., :3]
    np.testing.assert_allclose(
        turns @ np.swapaxes(turns, 2, 3), np.broadcast_to(np.eye(3), turns.shape), atol=1e-13
    )
    np.testing.assert_allclose(np.linalg.det(turns), 1, atol=1e-13)
    child = np.nonzero(bones.parents >= 0)[0]
    parent = bones.parents[child]
    np.testing.assert_allclose(
        apply(poses[:, child], bones.heads[child]),
        apply(poses[:, parent], bones.heads[child]),
        atol=1e-13,
    )


def test_swing_and_twist_stay_in_their_ranges_and_fill_them():
    bones = shapes.chain(4)
    swing, twist = swing_and_twist(local_turns(bones, sample(bones, 400)))
    angle = np.linalg.norm(swing, axis=-1)
    assert angle.max() <= SWING + 1e-9
    assert angle.max() > 0.97 * SWING
    assert np.abs(twist).max() <= TWIST + 1e-9
    assert np.abs(twist).max() > 0.97 * TWIST
    # Every direction: all quadrants, equally, and no preferred sign.
    assert np.abs((swing > 0).mean((0, 1)) - 0.5).max() < 0.05
    assert np.abs((twist > 0).mean() - 0.5) < 0.05


@pytest.mark.parametrize(("swing", "twist"), [(0, 0), (0.3, 0), (0, 0.7), (2.5, 1.5)])
def test_other_ranges(swing, twist):
    bones = shapes.chain(3)
    got_swing, got_twist = swing_and_twist(
        local_turns(bones, sample(bones, 60, swing=swing, twist=twist))
    )
    assert np.linalg.norm(got_swing, axis=-1).max() <= swing + 1e-7
    assert np.abs(got_twist).max() <= twist + 1e-7


def test_limits_replace_swing_and_twist():
    nan = [np.nan, np.nan]
    bones = shapes.chain(4)
    bones.limits = np.array(
        [
            [[-0.1, 0.9], nan, [0.2, 0.3]],  # X and Z, the twist is free
            [nan, [0.5, 1.0], nan],  # the twist alone
            [[-0.4, -0.2], [0, 0], nan],  # X and no twist: Z within the swing
            [nan, nan, nan],
        ]
    )
    swing, twist = swing_and_twist(local_turns(bones, sample(bones, 300)))
    boxes = {0: ((-0.1, 0.9), (0.2, 0.3)), 2: ((-0.4, -0.2), (-SWING, SWING))}
    for bone, box in boxes.items():
        for axis, (low, high) in enumerate(box):
            values = swing[:, bone, axis]
            assert low - 1e-9 <= values.min() < low + 0.05 * (high - low)
            assert high + 1e-9 >= values.max() > high - 0.05 * (high - low)
    assert np.linalg.norm(swing[:, [1, 3]], axis=-1).max() <= SWING + 1e-9
    assert 0.5 - 1e-9 <= twist[:, 1].min() < 0.52
    assert 0.98 < twist[:, 1].max() <= 1 + 1e-9
    np.testing.assert_allclose(twist[:, 2], 0, atol=1e-7)
    assert np.abs(twist[:, [0, 3]]).max() <= TWIST + 1e-9


def test_bones_that_do_not_deform_only_follow():
    bones = shapes.tree()
    poses = sample(bones, 10)
    np.testing.assert_array_equal(poses[:, 4], poses[:, 1])
    assert np.abs(poses[:, 5] - poses[:, 4]).max() > 0.1
    rootless = bones.but(deform=np.array([False, True, True, True, True, True]))
    np.testing.assert_array_equal(sample(rootless, 5)[:, 0], np.tile(np.eye(3, 4), (5, 1, 1)))


def test_pieces_of_a_bone_that_does_not_deform_are_a_chain():
    """Each piece is a child of the one before, with any parent. Children of the end are children of
    the last piece."""
    z = np.linspace(0, 3, 4)[:, None] * [0, 0, 1]
    heads, tails = np.array([z[0], z[0], z[1], z[2], z[3]]), np.array([z[3], *z[1:], 4 * z[1]])
    poses = araplbs.sample_poses(
        heads, tails, [-1, 0, 0, 0, 0], 20, bone_deform=[False, True, True, True, True]
    )
    for upper, lower in ((1, 2), (2, 3), (3, 4)):
        joint = np.append(heads[lower], 1)
        np.testing.assert_allclose(poses[:, upper] @ joint, poses[:, lower] @ joint, atol=1e-9)
    np.testing.assert_allclose(poses[:, 1] @ [0, 0, 0, 1], np.zeros((20, 3)), atol=1e-9)
    assert np.abs(poses[:, 1] - poses[:, 3]).max() > 0.1


def test_seeds():
    bones = shapes.tree()
    np.testing.assert_array_equal(sample(bones, 7, seed=3), sample(bones, 7, seed=3))
    np.testing.assert_array_equal(sample(bones, 7, seed=3), sample(bones, 8, seed=3)[:7])
    assert np.abs(sample(bones, 7, seed=3) - sample(bones, 7, seed=4)).min((0, 2, 3)).max() > 0
    assert sample(bones, 0).shape == (0, 6, 3, 4)


def split_mix(seed):
    """Steele et al. 2014, as numbers in [0, 1)."""
    while True:
        seed = (seed + 0x9E3779B97F4A7C15) % 2**64
        z = seed
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        yield ((z ^ (z >> 31)) >> 11) * 2.0**-53


PLACES = [(0.03, 0.77), (0.03, 0.27), (0.41, 0.17), (0.41, 0.66), (0.83, 0.31), (0.83, 0.82),
          (0.72, 0.05), (0.72, 0.55), (0.23, 0.73), (0.23, 0.23), (0.33, 0),
          (0.33, 0.51)]  # fmt: skip


def lattice(seed, count):
    """`count` points of Roberts' R3 lattice, shuffled (Fisher & Yates, inside out)."""
    numbers = split_mix(seed ^ 0xA3EC647659359ACD)
    first, last = PLACES[int(next(numbers) * len(PLACES))]
    begin = [first, next(numbers), last]
    numbers = split_mix(seed)
    g = np.roots([1, 0, 0, -1, -1]).real.max()
    points = []
    for k in range(count):
        at = int(next(numbers) * (k + 1))
        points.append(points[at] if at < k else None)
        points[at] = (begin + k / g ** np.arange(1, 4)) % 1
    return points


@pytest.mark.parametrize("seed", [0, 12345, 2**64 - 1])
def test_a_seed_means_the_same_poses_everywhere(seed):
    """Three numbers per bone; poses come in pairs of opposite rotations about Y and Z."""
    axes = np.array([[-1, 0, 0], [0, 0, 1], [0, 1, 0.0]]).T  # of a bone along Z with roll axis Y
    expected = []
    for u in lattice(seed, 5):
        for sign in (1, -1):
            direction = sign * 2 * np.pi * (u[2] - 0.5)
            swing = shapes.rotation([np.cos(direction), 0, np.sin(direction)], SWING * u[0])
            twist = shapes.rotation([0, 1, 0], sign * TWIST * (2 * u[1] - 1))
            expected.append(axes @ swing @ twist @ axes.T)
    poses = sample(shapes.chain(1), 10, seed=seed)
    np.testing.assert_allclose(poses[:, 0, :, :3], expected, atol=1e-12)


def test_other_seeds_turn_otherwise():
    """Weights are evaluated in poses of another seed, which are not the same rotations in another
    order, except where two of twelve start positions coincide."""
    bones = shapes.chain(1)
    turns = [sample(bones, 24, seed=seed)[:, 0, :, :3].reshape(24, 9) for seed in range(20)]
    nearest = [
        np.linalg.norm(one[:, None] - other, axis=2).min(1).mean()
        for k, one in enumerate(turns) for other in turns[:k]
    ]  # fmt: skip
    assert min(nearest) > 1e-3
    assert np.mean(np.array(nearest) > 0.15) > 0.8


def test_few_poses_cover_the_range_of_every_bone():
    """The swings of 80 poses are evenly distributed, without the gaps of random ones."""
    bones = shapes.tree()
    swing, _ = swing_and_twist(local_turns(bones, sample(bones, 80)))
    angles = np.sort(np.linalg.norm(swing, axis=-1), axis=0)
    assert np.diff(angles, axis=0).max() < 0.075 * SWING


def together(turns, one, other):
    """Root of the squares of sum_p x(p) x'(p)', where x are the rotations of two bones minus their
    mean."""
    one, other = ((turns[:, b] - turns[:, b].mean(0)).reshape(len(turns), 9) for b in (one, other))
    return np.linalg.norm(one.T @ other) / len(turns)


@pytest.mark.parametrize("count", [48, 80, 300])
def test_turns_of_neighbors_meet_evenly(count, rng):
    """Parents, their parents and siblings: far more evenly than with random orders of the same
    rotations."""
    bones = shapes.tree().but(deform=None)
    near = [(b, p) for b, p in enumerate(bones.parents) if p >= 0]
    near += [(b, bones.parents[p]) for b, p in near if bones.parents[p] >= 0]
    near += [(b, c) for b, p in near for c in range(b) if bones.parents[c] == p]
    means = np.zeros(2)
    for seed in range(5):
        turns = local_turns(bones, sample(bones, count, seed=seed))
        pairs = turns.reshape(-1, 2, *turns.shape[1:])
        shuffled = np.stack([rng.permutation(pairs[:, :, b]) for b in range(len(bones))], 2)
        for k, each in enumerate((turns, shuffled.reshape(turns.shape))):
            means[k] += np.mean([together(each, b, c) for b, c in near])
    assert means[0] < 0.4 * means[1]


def test_bones_below_do_not_change_the_turns_of_those_above():
    bones = shapes.chain(4)
    plain = local_turns(bones, sample(bones, 6))
    bones.deform = np.array([True, True, False, True])
    changed = local_turns(bones, sample(bones, 6))
    np.testing.assert_allclose(changed[:, :2], plain[:, :2], atol=1e-12)


@pytest.mark.parametrize("limited", [False, True])
def test_a_mirrored_skeleton_gets_the_mirrored_poses(limited):
    bones = shapes.tree()
    mirrored = bones.moved(MIRROR)
    if limited:
        bones.limits = np.full((6, 3, 2), np.nan)
        bones.limits[1] = [[-0.2, 0.7], [-0.3, 0.1], [0.1, 0.8]]
        bones.limits[3, 2] = [-1, 0.5]
        flipped = -bones.limits[..., ::-1]
        mirrored.limits = np.stack([bones.limits[:, 0], flipped[:, 1], flipped[:, 2]], axis=1)
    expected = MIRROR @ sample(bones, 8) @ np.diag([-1, 1, 1, 1])
    pairs = np.arange(8).reshape(-1, 2)[:, ::-1].ravel()
    np.testing.assert_allclose(sample(mirrored, 8)[pairs], expected, atol=1e-13)


def test_a_turned_skeleton_gets_the_turned_poses():
    """Also without roll axes, as long as the skeleton itself has directions."""
    turn = shapes.rotation([1, 2, 3], 1.1)
    for bones in (shapes.tree(), shapes.tree().but(roll_axes=None)):
        poses = sample(bones, 6)
        turned = sample(bones.moved(turn), 6)
        np.testing.assert_allclose(turned[..., :3], turn @ poses[..., :3] @ turn.T, atol=1e-12)
        np.testing.assert_allclose(turned[..., 3], poses[..., 3] @ turn.T, atol=1e-12)


def test_unusable_roll_axes_are_as_good_as_none():
    bones = shapes.tree()
    along = bones.but(roll_axes=bones.tails - bones.heads)
    unknown = bones.but(roll_axes=np.full((6, 3), np.nan))
    none = bones.but(roll_axes=None)
    np.testing.assert_array_equal(sample(along, 4), sample(none, 4))
    np.testing.assert_array_equal(sample(unknown, 4), sample(none, 4))


@pytest.mark.parametrize("count", [1, 7])
def test_a_solver_uses_these_poses(count):
    mesh, bones = shapes.tube(6, 5), shapes.tree()
    given = sample(bones, 3, seed=77)
    settings = {**bones.more, "seed": 11, "swing": 0.8, "twist": 0.3}
    solver = araplbs.Solver(*mesh, *bones, **settings, poses=given, pose_count=count)
    poses = np.concatenate([araplbs.sample_poses(*bones, count, **settings), given])
    expected = reference.normalize_to_solver(mesh[0], poses)[1][:, bones.deform]
    np.testing.assert_allclose(solver._inside["transform"], expected, atol=1e-12)
    assert solver.report["poses"] == count + 3


def test_zero_length_bones():
    bones = shapes.chain(3)
    bones.tails[1] = bones.heads[1]
    poses = sample(bones, 20)
    turns = poses[..., :3]
    assert np.isfinite(poses).all()
    np.testing.assert_allclose(np.linalg.det(turns), 1, atol=1e-13)
