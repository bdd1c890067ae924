"""Tests sampled poses of stretchable-twistable bones and spines, and complete solves with such
bones."""

import araplbs
import numpy as np
import pytest
import reference
import shapes
from guarantees import check_report, check_weights
from spine_rigs import BENT, KINDS, place, rig, sample

# Sampled poses


def test_bends_keep_to_their_ranges_and_cover_them():
    bones = rig()
    poses, bends = sample(bones, 200, seed=4)
    assert poses.shape == (200, 3, 3, 4)
    assert bends.shape == (200, 3, 4)
    np.testing.assert_array_equal(bends[:, 0], np.tile([0, 0, 0, 1], (200, 1)))
    np.testing.assert_allclose(bends[:, 1, :2], 0, atol=1e-15)  # about itself, Z
    for numbers, (low, high) in (
        (bends[:, 1, 2], BENT[1, 2]),
        (bends[:, 1, 3], BENT[1, 3]),
        (bends[:, 2, 3], BENT[2, 3]),
    ):
        assert low <= numbers.min() < low + 0.05 * (high - low)
        assert high >= numbers.max() > high - 0.05 * (high - low)
    angle = np.linalg.norm(bends[:, 2, :3], axis=1)
    assert 1.9 < angle.max() <= 2
    axis = bends[:, 2, :3] / angle[:, None]
    for direction in np.concatenate([np.eye(3), -np.eye(3)]):
        assert (axis @ direction).max() > 0.97


def test_usual_ranges():
    bones = shapes.chain(3, kinds=KINDS)
    _, bends = sample(bones, 60, swing=0.8)
    angle = np.linalg.norm(bends[:, 1:, :3], axis=-1)
    assert (angle.max(0) > 0.75).all()
    assert angle.max() <= 0.8
    np.testing.assert_array_equal(bends[..., 3], 1)


def test_rolls_and_twists_keep_to_their_ranges():
    ranges = np.full((1, 4, 2), np.nan)
    ranges[0, :2] = [[0.2, 0.4], [-0.5, -0.3]]
    bones = shapes.chain(1, ranges=ranges)
    turns = araplbs.sample_poses(*bones, 80, **bones.more)[:, 0, :, :3]
    tilt = np.arccos(turns[:, 2, 2])
    assert 0.2 <= tilt.min() < 0.22
    assert 0.4 >= tilt.max() > 0.38
    twist = np.arctan2(turns[:, 1, 0] - turns[:, 0, 1], turns[:, 0, 0] + turns[:, 1, 1])
    assert -0.5 <= twist.min() < -0.48
    assert -0.3 >= twist.max() > -0.32
    limits = np.full((1, 3, 2), np.nan)
    limits[0, 1] = 0.1  # joint limits come first
    turns = araplbs.sample_poses(*bones, 5, **bones.but(limits=limits).more)[:, 0, :, :3]
    twist = np.arctan2(turns[:, 1, 0] - turns[:, 0, 1], turns[:, 0, 0] + turns[:, 1, 1])
    np.testing.assert_allclose(twist, 0.1, atol=1e-12)


def test_the_same_seed_means_the_same_bends_and_kinds_leave_turns_alone():
    bones = rig()
    first, again, other = (sample(bones, 9, seed=s) for s in (5, 5, 6))
    np.testing.assert_array_equal(first[0], again[0])
    np.testing.assert_array_equal(first[1], again[1])
    assert np.abs(first[1] - other[1]).max() > 0.1
    plain = bones.but(kinds=None)
    rigid = araplbs.sample_poses(*plain, 9, seed=5, **plain.more)
    np.testing.assert_array_equal(first[0][:, :2], rigid[:, :2])
    assert np.abs(first[0][:, 2] - rigid[:, 2]).max() > 0.1, "it hangs on the STB"
    solver = shapes.solver(shapes.tube(6, 9), bones, seed=5, pose_count=9)
    np.testing.assert_allclose(solver._inside["transform"][..., :3], first[0][..., :3], atol=1e-12)


def test_joints_stay_connected():
    """A child of a spine follows its tail, or the position along it that is next to the child's
    head."""
    bones = shapes.chain(3, kinds=["spine", "stb", "rigid"])
    beside = [0.1, 0.2, 0.4]
    bones = bones.but(
        heads=np.concatenate([bones.heads, [beside]]),
        tails=np.concatenate([bones.tails, [[1, 0, 0.4]]]),
        parents=np.append(bones.parents, 0),
        roll_axes=None,
        kinds=[*bones.kinds, "rigid"],
    )
    poses, bends = sample(bones, 6)
    for pose, bend in zip(poses, bends, strict=True):
        for parent, child in ((0, 1), (1, 2), (0, 3)):
            head, tail, joint = bones.heads[parent], bones.tails[parent], bones.heads[child]
            u = reference.along_bone(head, tail, joint)
            local = reference.spine_point(head, tail, bend[parent], u, joint)
            expected = pose[parent, :, :3] @ local + pose[parent, :, 3]
            got = pose[child, :, :3] @ joint + pose[child, :, 3]
            np.testing.assert_allclose(got, expected, atol=1e-13)
        assert np.abs(pose[1, :, :3] - pose[0, :, :3]).max() > 0.05


MIRROR = np.diag([-1.0, 1, 1])


def mirror_rig(kind):
    heads = np.array([[0, 0, 0], [0.2, 0, 1], [-0.2, 0, 1.0]])
    tails = np.array([[0, 0, 1], [1, 0.1, 1.2], [-1, 0.1, 1.2]])
    ranges = np.full((3, 4, 2), np.nan)
    ranges[1, 2:] = [[-0.3, 1], [0.7, 1.5]]
    ranges[2, 2:] = [[-1, 0.3], [0.7, 1.5]]
    if kind == "spine":  # its axis is anywhere, so an angle is the same on both sides
        ranges[2, 2] = ranges[1, 2]
    roll = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 1.0]])
    return shapes.Bones(heads, tails, np.array([-1, 0, 0]), roll, None, None, [kind] * 3, ranges)


@pytest.mark.parametrize("kind", ["stb", "spine"])
def test_poses_mirror_each_other(kind):
    bones = mirror_rig(kind)
    partners = np.array([0, 2, 1])
    poses, bends = sample(bones, 8, symmetry=(partners, (0, 0, 0), (1, 0, 0)))
    pairs = np.arange(8) ^ 1
    images = MIRROR @ poses[:, partners] @ np.diag([-1, 1, 1, 1])
    np.testing.assert_allclose(poses[pairs], images, atol=1e-12)
    np.testing.assert_allclose(bends[pairs][..., :3], -bends[:, partners, :3] @ MIRROR, atol=1e-12)
    np.testing.assert_array_equal(bends[pairs][..., 3], bends[:, partners, 3])
    assert np.abs(bends[pairs] - bends).max() > 0.1


@pytest.mark.parametrize("kind", ["stb", "spine"])
def test_a_mirrored_skeleton_gets_the_mirrored_bends(kind):
    bones = mirror_rig(kind)
    moved = bones.moved(MIRROR)
    ranges = bones.ranges.copy()
    if kind == "stb":
        ranges[:, 2] = -ranges[:, 2, ::-1]
    _, bends = sample(bones, 8)
    _, mirrored = sample(moved.but(ranges=ranges), 8)
    pairs = np.arange(8) ^ 1
    np.testing.assert_allclose(mirrored[pairs][..., :3], -bends[..., :3] @ MIRROR, atol=1e-12)
    if kind == "spine":
        np.testing.assert_array_equal(mirrored[pairs][..., 3], bends[..., 3])


# Whole solves


def solved(mesh=None, bones=None, **settings):
    mesh, bones = mesh or shapes.tube(10, 21), bones or rig()
    return shapes.solve(mesh, bones, **{"pose_count": 20, **settings})


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"max_influences": 2},
        {"positivity": "penalty", "attach": True, "neumann": True},
        {"filter": "extrema", "harmonic": 1e-4},
    ],
)
def test_weights_are_good_and_better_than_those_of_the_start(settings):
    solver = solved(**settings, **reference.PAPER_ENERGY)
    check_weights(solver, settings.get("max_influences", 4))
    check_report(solver, shapes.tube(10, 21)[0], rig())
    if "max_influences" not in settings:
        assert solver.energy < solver.energies[0]
    poses, bends = sample(rig(), 20)
    again = araplbs.energy(
        *shapes.tube(10, 21), solver.weights, poses, bone_heads=rig().heads, bone_tails=rig().tails,
        bone_kinds=KINDS, bends=bends,
    )  # fmt: skip
    # The energy jumps where the influence of a spine begins.
    assert again == pytest.approx(solver.energy, rel=1e-6)


def test_a_turned_problem_has_the_same_weights():
    mesh, bones = shapes.tube(10, 21), rig()
    turn = shapes.rotation([1, 2, 3], 1.1)
    moved = (3 * mesh[0] @ turn.T + [5, 6, 7], mesh[1])
    settings = {"precision": "double"}
    plain = solved(mesh, bones, **settings)
    turned = solved(moved, bones.moved(3 * turn, [5, 6, 7]), **settings)
    np.testing.assert_allclose(turned.energies, plain.energies, rtol=1e-8)
    np.testing.assert_allclose(turned.weights, plain.weights, atol=1e-6)


def test_no_coarser_mesh_and_no_shared_rotations():
    """Neither supports spines: both are omitted, as documented."""
    plain = solved(coarsen=0)
    other = solved(coarsen=100, rotation_clusters=0.2)
    assert other.report["coarse_vertices"] == 0
    np.testing.assert_array_equal(other.weights, plain.weights)
    bones = rig().but(kinds=None)
    assert solved(bones=bones, coarsen=100).report["coarse_vertices"] > 0


def test_symmetric_weights():
    mesh, bones = shapes.tube(10, 21), rig()
    solver = solved(mesh, bones, symmetry=([0, 1, 2], (0, 0, 0), (1, 0, 0)))
    partner = solver._inside["symmetry_vertex"]
    assert solver.report["symmetric_vertices"] == len(mesh[0])
    np.testing.assert_array_equal(solver.weights[partner], solver.weights)


def test_locks_and_edits():
    mesh, bones = shapes.tube(10, 21), rig()
    given = np.zeros((210, 3))
    given[:40, 1] = 1
    solver = solved(
        mesh, bones, weights=given, locked_vertices=np.arange(210) < 40,
        influences=([100], [1], [False]),
    )  # fmt: skip
    np.testing.assert_array_equal(solver.weights[:40], given[:40])
    assert solver.weights[100, 1] == 0
    solver.edit(constraints=([150], [2], [1.0]))
    solver.solve()
    assert solver.weights[150, 2] > 0.9


def test_parameters_are_those_of_the_caller(rng):
    """NaN and the position along the bone are equivalent; of welded vertices, the first counts."""
    mesh, bones = shapes.tube(10, 9), rig()
    u = np.nan_to_num(place(bones, mesh[0]))
    plain, same = (solved(mesh, bones, parameters=p) for p in (None, u))
    np.testing.assert_allclose(same.weights, plain.weights, atol=1e-9)
    nothing = solved(mesh, bones, parameters=np.full_like(u, np.nan))
    np.testing.assert_array_equal(nothing.weights, plain.weights)
    squared = solved(mesh, bones, parameters=u**2)
    assert np.abs(squared.weights - plain.weights).max() > 0.01
    apart = shapes.split(*mesh)
    corner = mesh[1].ravel()
    first = np.isin(np.arange(len(corner)), np.unique(corner, return_index=True)[1])
    mixed = np.where(first[:, None], (u**2)[corner], 0.5)
    solver = shapes.solver(apart, bones, parameters=mixed)
    welded = solver._inside["spine_parameter"]
    np.testing.assert_allclose(welded, (u**2)[corner[first]][:, 1:], atol=1e-15)


def test_spines_of_other_pieces_and_lengths():
    """A helper bone between spines, a spine without length, loose wires and a single vertex."""
    bones = shapes.tree()
    bones = bones.but(kinds=["spine", "stb", "spine", "rigid", "spine", "stb"])
    bones.tails[3] = bones.heads[3]
    bones.kinds[3] = "spine"
    mesh = shapes.join(shapes.tube(8, 9), shapes.sphere(5, 6, 0.2, (1, 0, 1.9)))
    mesh = np.concatenate([mesh[0], [[0, 0.5, 2], [0, 0.6, 2.3], [2, 2, 2]]]), mesh[1]
    n = len(mesh[0])
    solver = solved(mesh, bones, edges=[[3, n - 3], [n - 3, n - 2]])
    check_weights(solver, 4)
    assert not solver.weights[:, 4].any()
