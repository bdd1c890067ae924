"""Tests joints in the poses of a rig: the parent of each joint, how far the joint moves, and poses
in which all joints move."""

import numpy as np
import pytest

FLIP = np.diag([-1.0, 1, 1, 1])


@pytest.fixture
def skeleton(core):
    def make(bones, **fields):
        """bones: [(name, head, tail, parent or None)]."""
        names = [bone[0] for bone in bones]
        m = len(names)
        parents = [-1 if bone[3] is None else names.index(bone[3]) for bone in bones]
        sides = [n[:-1] + {"L": "R", "R": "L"}.get(n[-1], n[-1]) for n in names]
        given = {"deform": np.ones(m, bool), "limits": np.full((m, 3, 2), np.nan), **fields}
        return core("skeleton.skeleton").Skeleton(
            names=names,
            heads=np.array([bone[1] for bone in bones], float),
            tails=np.array([bone[2] for bone in bones], float),
            parents=np.array(parents, np.int32),
            roll_axes=np.tile([0.0, 1, 0], (m, 1)),
            opposite=np.array([names.index(n) if n in names else i for i, n in enumerate(sides)]),
            **given,
        )

    return make


ARM = [
    ("upper", (0, 0, 0), (1, 0, 0), None),
    ("fore", (1, 0, 0), (2, 0, 0), "upper"),
    ("hand", (2, 0, 0), (2.5, 0, 0), "fore"),
    ("finger", (2.5, 0, 0), (3, 0, 0), "hand"),
]
SIDES = [
    ("spine", (0, 0, 0), (0, 0, 1), None),
    ("arm.L", (0.1, 0, 1), (1, 0, 1), "spine"),
    ("hand.L", (1, 0, 1), (1.5, 0, 1), "arm.L"),
    ("arm.R", (-0.1, 0, 1), (-1, 0, 1), "spine"),
    ("hand.R", (-1, 0, 1), (-1.5, 0, 1), "arm.R"),
]


def names_of_parents(core, skeleton):
    parents = core("skeleton.rig_poses").deform_parents(skeleton)
    return {
        n: skeleton.names[p] if p >= 0 else None
        for n, p in zip(skeleton.names, parents, strict=True)
    }


def joints_of(core, skeleton):
    return core("skeleton.joint_motion").Joints(
        skeleton, core("skeleton.rig_poses").deform_parents(skeleton)
    )


def options(core, poses=12):
    return core("model.options").Options(pose_count=poses)


def poses_of(core, skeleton, turning, poses=12):
    """(p, m, 3, 4) and no segments: these bones rotate, and the others follow."""
    joints = joints_of(core, skeleton)
    turns = joints.own_turns(skeleton, options(core, poses))
    turns[:, [name not in turning for name in skeleton.names]] = np.eye(4)
    whole = turns.copy()
    for b, up in enumerate(skeleton.parents):
        if up >= 0:
            whole[:, b] = whole[:, up] @ turns[:, b]
    return whole[:, :, :3], np.zeros((poses, 0, 3, 4))


def completed(core, joints, transforms, segments, turns):
    """(transforms, segments, alone)."""
    motion, alone = core("skeleton.joint_motion").complete(transforms, segments, joints, turns)
    assert np.isfinite(motion.own).all() and np.isfinite(motion.segments).all()
    return *joints.composed(motion), alone


def square(transforms):
    whole = np.zeros((*transforms.shape[:-2], 4, 4))
    whole[..., :3, :], whole[..., 3, 3] = transforms, 1
    return whole


def test_parents_of_joints(core, skeleton):
    """Past bones that do not deform, by coincident bones, and by the nearest bone of another
    tree."""
    bones = [
        ("root", (0, 0, 0), (0, 0, 0.1), None),
        *ARM[:1],
        ("ORG-upper", (0, 0, 0), (1, 0, 0), "root"),
        ("fore", (1, 0, 0), (2, 0, 0), "ORG-upper"),
        ("bracelet", (1.9, 0.1, 0), (1.9, 0.2, 0), None),
        ("charm", (1.9, 0.2, 0), (1.9, 0.3, 0), "bracelet"),
        ("ring", (1.9, 0.4, 0), (1.9, 0.5, 0), None),
    ]
    deform = np.array([name not in ("root", "ORG-upper") for name, *_ in bones])
    found = names_of_parents(core, skeleton(bones, deform=deform))
    assert found["fore"] == "upper" and found["upper"] is None
    assert found["bracelet"] == "fore" and found["charm"] == "bracelet"
    assert found["ring"] == "charm", "not the tree that was there first"


def test_bones_that_lie_on_each_other_crosswise(core, skeleton):
    """The parent of each coincides with the other: no joint is its own ancestor."""
    one, two = ((0, 0, 0), (1, 0, 0)), ((1, 0, 0), (2, 0, 0))
    bones = [
        ("on two", *two, None),
        ("one", *one, "on two"),
        ("on one", *one, None),
        ("two", *two, "on one"),
    ]
    deform = np.array([False, True, False, True])
    found = names_of_parents(core, skeleton(bones, deform=deform))
    assert sorted(filter(None, (found["one"], found["two"]))) in (["one"], ["two"])


def test_motion_is_taken_apart_and_put_together(core, skeleton):
    rig = skeleton(ARM)
    joints = joints_of(core, rig)
    transforms, segments = poses_of(core, rig, ("upper", "fore", "hand", "finger"))
    motion = joints.motion(transforms, segments)
    assert not motion.torn.any()
    whole = square(transforms)
    expected = np.linalg.inv(whole[:, 1]) @ whole[:, 2]
    np.testing.assert_allclose(motion.own[:, 2], expected, atol=1e-12)
    np.testing.assert_allclose(joints.composed(motion)[0], transforms, atol=1e-12)
    corners = rig.heads[2] + 0.5 * np.vstack([np.zeros(3), np.eye(3)])
    off = [expected[k, :3, :3] @ c + expected[k, :3, 3] - c for k in range(12) for c in corners]
    by_hand = np.sqrt((np.square(off).sum(axis=1)).mean()) / 0.5
    assert joints.extent(motion)[2] == pytest.approx(by_hand)


def test_what_the_rig_leaves_still_turns_on_its_own(core, skeleton):
    """A joint that the rig leaves still turns in addition to the rig's motion, together with its
    children. All other joints are unchanged."""
    rig = skeleton(ARM)
    joints = joints_of(core, rig)
    transforms, segments = poses_of(core, rig, ("upper", "fore", "finger"))
    turns = joints.own_turns(rig, options(core))
    found, _segments, alone = completed(core, joints, transforms, segments, turns)
    assert [rig.names[b] for b in joints.bones[alone]] == ["hand"]
    np.testing.assert_allclose(found[:, :2], transforms[:, :2], atol=1e-12)
    before, after = joints.motion(transforms, segments).own, joints.motion(found, segments).own
    np.testing.assert_allclose(after[:, 2], turns[:, 2], atol=1e-12)
    np.testing.assert_allclose(after[:, 3], before[:, 3], atol=1e-12)
    again = completed(core, joints, found, segments, turns)
    assert not again[2].any() and np.allclose(again[0], found, atol=1e-12)


def test_locked_joints_stay(core, skeleton):
    limits = np.full((4, 3, 2), np.nan)
    limits[2] = 0
    rig = skeleton(ARM, limits=limits)
    joints = joints_of(core, rig)
    poses = poses_of(core, rig, ("upper", "fore", "finger"))
    turns = joints.own_turns(rig, options(core))
    found, _segments, alone = completed(core, joints, *poses, turns)
    assert not alone.any() and np.allclose(found, poses[0], atol=1e-12)


TORN = {
    "not finite": lambda pose: np.full((3, 4), np.nan),
    "infinite": lambda pose: np.full((3, 4), np.inf),
    "far away": lambda pose: np.add(pose, [0, 0, 0, 40]),
    "flat": lambda pose: pose * [1, 1, 0, 1],
    "stretched": lambda pose: pose * [1, 9, 1, 1],
    "huge": lambda pose: pose * 1e200,
}


@pytest.mark.parametrize("how", TORN)
def test_torn_joints_are_mended_where_they_tear(core, skeleton, how):
    rig = skeleton(ARM)
    joints = joints_of(core, rig)
    transforms, segments = poses_of(core, rig, ("upper", "fore", "hand", "finger"))
    turns = joints.own_turns(rig, options(core))
    spoiled = transforms.copy()
    spoiled[3, 2] = TORN[how](spoiled[3, 2])
    found, _segments, alone = completed(core, joints, spoiled, segments, turns)
    assert not alone.any() and np.isfinite(found).all()
    others = np.arange(12) != 3
    np.testing.assert_allclose(found[others], transforms[others], atol=1e-12)
    np.testing.assert_allclose(joints.motion(found, segments).own[3, 2], turns[3, 2], atol=1e-12)
    for k in range(7):
        spoiled[k, 2] = TORN[how](transforms[k, 2])
    found, _segments, alone = completed(core, joints, spoiled, segments, turns)
    assert alone[2], "it tears more often than not"
    np.testing.assert_allclose(joints.motion(found, segments).own[:, 2], turns[:, 2], atol=1e-12)


def test_what_slides_or_hangs_loose_is_not_torn(core, skeleton):
    """A piston that slides by its length, and a hand that is a child of the root of a flat
    skeleton."""
    flat = [(name, head, tail, None if name == "upper" else "upper") for name, head, tail, _ in ARM]
    joints = joints_of(core, skeleton(flat))
    assert (joints.loose[2:] >= 2).all() and 1 <= joints.loose[1] < 1.5


def test_segments_go_with_their_bone(core, skeleton):
    kinds = ["rigid", "rigid", "bendy", "rigid"]
    stretch = np.zeros((3, 4), bool)
    rig = skeleton(ARM, kinds=kinds, segments=np.full(4, 3, np.int32),
                   stretch=stretch[0], own_stretch=stretch[1], volume=stretch[2])  # fmt: skip
    joints = joints_of(core, rig)
    transforms, _none = poses_of(core, rig, ("upper", "fore", "finger"))
    inside = np.tile(np.eye(4), (12, 4, 1, 1))
    segments = (square(transforms[:, 2:3]) @ inside)[:, :, :3]
    turns = joints.own_turns(rig, options(core))
    found, moved, alone = completed(core, joints, transforms, segments, turns)
    assert alone.tolist() == [False, False, True, False]
    np.testing.assert_allclose(moved, np.repeat(found[:, 2:3], 4, axis=1), atol=1e-12)
    inside[:, 2, 1, 3] = 0.3  # its curve alone moves it
    segments = (square(transforms[:, 2:3]) @ inside)[:, :, :3]
    assert not completed(core, joints, transforms, segments, turns)[2].any()


def test_nothing_moves(core, skeleton):
    rig = skeleton(ARM)
    joints = joints_of(core, rig)
    poses, turns = poses_of(core, rig, ()), joints.own_turns(rig, options(core))
    assert core("skeleton.joint_motion").complete(*poses, joints, turns) is None


def test_images(core, skeleton):
    """Both sides have mirror images, and an object in one hand follows this hand in the image."""
    held = ("sword", (1.5, 0, 1), (1.5, 0, 2), "hand.L")
    kinds = ["bendy" if name in ("hand.L", "hand.R", "sword") else "rigid" for name, *_ in SIDES]
    rig = skeleton([*SIDES, held], kinds=[*kinds, "bendy"], segments=np.full(6, 2, np.int32),
                   stretch=np.zeros(6, bool), own_stretch=np.zeros(6, bool),
                   volume=np.zeros(6, bool))  # fmt: skip
    joints, module = joints_of(core, rig), core("skeleton.joint_motion")
    transforms, _none = poses_of(core, rig, ("spine", "arm.L", "hand.R", "sword"))
    segments = transforms[:, joints.bones[joints.owner]] + 1e-3 * np.arange(9)[:, None, None]
    motion = joints.motion(transforms, segments)
    mirror = module.Mirror(core("skeleton.symmetry").bone_partners(rig), joints, FLIP)
    image, moved = joints.composed(mirror.image(motion))
    flipped = FLIP[:3, :3] @ transforms[:, [0, 3, 4, 1, 2]] @ FLIP
    np.testing.assert_allclose(image[:, :5], flipped, atol=1e-12)
    flipped = FLIP[:3, :3] @ segments[:, [3, 4, 5, 0, 1, 2]] @ FLIP
    np.testing.assert_allclose(moved[:, :6], flipped, atol=1e-12)
    into = square(image)[:, 2] @ np.linalg.inv(square(transforms)[:, 2])
    np.testing.assert_allclose(square(image)[:, 5], into @ square(transforms)[:, 5], atol=1e-12)
    held_by = into[:, None] @ square(segments)[:, 6:]
    np.testing.assert_allclose(square(moved)[:, 6:], held_by, atol=1e-12)
    again, _moved = joints.composed(mirror.image(mirror.image(motion)))
    np.testing.assert_allclose(again, transforms, atol=1e-12)
