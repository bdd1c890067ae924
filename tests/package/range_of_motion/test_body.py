"""Tests how legs, arms and trunk of skeletons are found, how far they twist, and how they move in a
walk."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from araplbs.body.acts import acts_of, turns_to, within_reach
from araplbs.body.body import Body, find_body
from araplbs.body.chains import Tree
from araplbs.body.limbs import Limb
from araplbs.body.named_poses import _fist, named_poses
from araplbs.body.twists import limbs_of, twist_shares
from araplbs.model.options import Options
from araplbs.skeleton.poses import sample
from araplbs.skeleton.skeleton import Skeleton

UP = np.array([0.0, 0, 1])


class Bones:
    """The bones of a skeleton, added by name, alternately left and right."""

    def __init__(self):
        self.names, self.heads, self.tails, self.parents = [], [], [], []

    def add(self, name, joints, parent=None):
        """Bones name, name.1, ... between joints, as children of a parent."""
        above = -1 if parent is None else self.names.index(parent)
        for k, (head, tail) in enumerate(itertools.pairwise(joints)):
            self.parents.append(above)
            above = len(self.names)
            self.names.append(f"{name}.{k}" if k else name)
            self.heads.append(head)
            self.tails.append(tail)
        return self

    def both(self, name, joints, parent=None):
        """Bones on both sides, with a parent in the middle or, by "name", the last bone of that
        name on the same side."""
        for side, sign in (("L", 1), ("R", -1)):
            own = [np.array(joint) * (sign, 1, 1) for joint in joints]
            last = [name for name in self.names if name.startswith(f"{parent}_{side}")]
            self.add(f"{name}_{side}", own, last[-1] if last else parent)
        return self

    def tree(self, turn=None, tails=None, which=None):
        turn = np.eye(3) if turn is None else turn
        heads = np.array(self.heads, float) @ turn.T
        tails = np.array(self.tails, float) @ turn.T if tails is None else tails
        which = np.ones(len(heads), bool) if which is None else which
        return Tree(heads, tails, np.array(self.parents), which)

    def body(self, **changed):
        tree = self.tree(**changed)
        return find_body(tree, tree.chains(), UP), tree

    def named(self, limb):
        return [self.names[b] for b in limb.bones]


def human(arms=True):
    bones = Bones().add("root", [(0, 0, 0), (0, 0.3, 0)])
    bones.add("hips", [(0, 0, 1), (0, 0, 1.15)], "root")
    bones.add("spine", [(0, 0, 1.15), (0, 0, 1.3), (0, 0, 1.5)], "hips")
    bones.add("neck", [(0, 0, 1.5), (0, 0, 1.56), (0, 0, 1.75)], "spine.1")
    leg = [(0.1, 0, 1), (0.1, -0.02, 0.52), (0.1, 0, 0.08), (0.1, -0.14, 0.02), (0.1, -0.2, 0.01)]
    bones.both("leg", leg, "hips")
    if arms:
        arm = [
            (0.03, 0, 1.42),
            (0.18, 0, 1.44),
            (0.46, 0.01, 1.43),
            (0.72, 0, 1.42),
            (0.8, 0, 1.42),
        ]
        bones.both("arm", arm, "spine.1")
        for k, (x, y) in enumerate(((0.74, -0.04), (0.8, -0.02), (0.8, 0.02))):
            bones.both(f"finger{k}", [(x, y, 1.42), (x + 0.06, 1.3 * y, 1.41)], "arm")
    return bones


def more_than_a_body(bones):
    """Hair, ears, a tail, a skirt, a weapon in one hand, controls on the root."""
    bones.both("hair", [(0.06, 0.1, 1.7), (0.1, 0.16, 1.3), (0.1, 0.16, 0.9)], "neck.1")
    bones.both("ear", [(0.05, 0, 1.75), (0.12, 0, 2.0), (0.2, 0, 2.2)], "neck.1")
    bones.add("tail", [(0, 0.1, 1), (0, 0.4, 0.8), (0, 0.7, 0.5), (0, 1, 0.4)], "hips")
    for k, (x, y) in enumerate(((0.12, -0.12), (0.2, 0), (0.12, 0.12))):
        skirt = [(x, y, 0.98), (1.3 * x, 1.3 * y, 0.7), (1.5 * x, 1.5 * y, 0.3)]
        bones.both(f"skirt{k}", skirt, "hips")
    bones.add("sword", [(0.8, 0, 1.42), (0.8, -0.9, 1.6)], "arm_L.3")
    bones.both("foot_control", [(0.1, 0.02, 0.08), (0.1, 0.3, 0.08)], "root")
    bones.both("pole", [(0.1, -1.2, 0.5), (0.1, -1.3, 0.5)], "root")
    return bones


def dog():
    """A dog with hocks, a neck, a tail and a back of two bones."""
    bones = Bones().add("hips", [(0, 0.5, 0.6), (0, 0.25, 0.62)])
    bones.add("back", [(0, 0.25, 0.62), (0, 0, 0.62), (0, -0.35, 0.62)], "hips")
    bones.add(
        "neck", [(0, -0.35, 0.62), (0, -0.5, 0.78), (0, -0.6, 0.9), (0, -0.85, 0.85)], "back.1"
    )
    bones.both("ear", [(0.05, -0.6, 0.95), (0.09, -0.6, 1.1)], "neck.2")
    bones.add("tail", [(0, 0.55, 0.6), (0, 0.75, 0.6), (0, 1, 0.7)], "hips")
    hind = [(0.1, 0.5, 0.58), (0.1, 0.4, 0.36), (0.1, 0.62, 0.2), (0.1, 0.58, 0.04), (0.1, 0.5, 0)]
    fore = [
        (0.1, -0.3, 0.6),
        (0.1, -0.4, 0.42),
        (0.1, -0.28, 0.3),
        (0.1, -0.3, 0.05),
        (0.1, -0.38, 0),
    ]
    bones.both("hind", hind, "hips")
    return bones.both("fore", fore, "back.1")


def turned(degrees):
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])


def check_human(bones, body):
    assert [bones.named(leg) for leg in body.legs[0]] == [
        ["leg_L", "leg_L.1"],
        ["leg_R", "leg_R.1"],
    ]
    left, right = body.arms
    assert bones.named(left) == ["arm_L.1", "arm_L.2"] and bones.named(right) == [
        "arm_R.1",
        "arm_R.2",
    ]
    assert body.is_biped


@pytest.mark.parametrize("degrees", [0, 90, 180, 33])
def test_a_human_whatever_it_faces(degrees):
    bones = human()
    body, _tree = bones.body(turn=turned(degrees))
    check_human(bones, body)
    assert np.allclose(body.forward, turned(degrees) @ [0, -1, 0], atol=1e-6)
    assert body.tail == () and body.neck == () and body.spine == ()


def test_what_is_more_than_a_body():
    bones = more_than_a_body(human())
    body, _tree = bones.body()
    check_human(bones, body)
    assert [bones.names[b] for b in body.tail] == ["tail", "tail.1", "tail.2"]


def test_what_importers_leave_of_tails():
    """Stubs, and tails that point aside, each too long."""
    bones = more_than_a_body(human())
    heads = np.array(bones.heads)
    for aside in ((0, 1e-3, 0), (0, 1.5, 0.2)):
        body, tree = bones.body(tails=heads + np.array(aside))
        assert not tree.drawn
        check_human(bones, body)
        assert np.allclose(body.forward, [0, -1, 0])


def test_feet_that_hang_on_the_root():
    """In this case, the shin has no end; its end is where the foot begins, and the foot follows
    it."""
    bones = Bones().add("root", [(0, 0, 0), (0, 0.3, 0)])
    bones.add("spine", [(0, 0, 1), (0, 0, 1.5)], "root")
    bones.both("leg", [(0.1, 0, 1), (0.1, -0.02, 0.52), (0.1, 0, 0.08)], "root")
    bones.both("arm", [(0.18, 0, 1.44), (0.46, 0.01, 1.43), (0.72, 0, 1.42)], "spine")
    bones.both("foot", [(0.1, 0, 0.08), (0.1, -0.14, 0.02), (0.1, -0.2, 0.01)], "root")
    heads = np.array(bones.heads)
    for tails in (None, heads + np.array([0, 1e-3, 0])):
        body, _tree = bones.body(tails=tails)
        for leg, side in zip(body.legs[0], "LR", strict=True):
            assert bones.named(leg) == [f"leg_{side}", f"leg_{side}.1"]
            assert [bones.names[b] for b in leg.feet] == [f"foot_{side}"]
            assert np.allclose(leg.end[2], 0.08)
        goal = body.legs[0][0].end + np.array([0, -0.2, 0.1])
        turns = turns_to(body, body.legs[0][0], goal)
        foot = turns[bones.names.index("foot_L")]
        assert np.allclose(foot[:3, 3], [0, -0.2, 0.1]) and np.allclose(foot[:3, :3], np.eye(3))


def test_limbs_of_twist_bones():
    """An upper arm, a forearm, a thigh and a shin of two bones each."""
    bones = Bones().add("spine", [(0, 0, 1), (0, 0, 1.3), (0, 0, 1.5)])
    leg = [(0.1, 0, 1), (0.1, -0.01, 0.76), (0.1, -0.02, 0.52), (0.1, -0.01, 0.3), (0.1, 0, 0.08)]
    bones.both("leg", [*leg, (0.1, -0.2, 0)], "spine")
    arm = [
        (0.18, 0, 1.44),
        (0.32, 0.02, 1.44),
        (0.46, 0.04, 1.44),
        (0.59, 0.02, 1.44),
        (0.72, 0, 1.44),
    ]
    bones.both("arm", [*arm, (0.8, 0, 1.44)], "spine.1")
    body, _tree = bones.body()
    assert bones.named(body.legs[0][0]) == ["leg_L", "leg_L.2"]
    assert bones.named(body.arms[0]) == ["arm_L", "arm_L.2"]
    assert [bones.names[b] for b in body.arms[0].feet] == ["arm_L.4"]


def test_a_quadruped():
    bones = dog()
    for degrees in (0, 90):
        body, _tree = bones.body(turn=turned(degrees))
        assert np.allclose(body.forward, turned(degrees) @ [0, -1, 0], atol=1e-6)
        hind, fore = body.legs
        assert bones.named(hind[0]) == ["hind_L", "hind_L.1", "hind_L.2"], "hip, knee, hock"
        assert bones.named(fore[1])[-1] == "fore_R.2" and body.arms is None
        names = {
            part: [bones.names[b] for b in getattr(body, part)]
            for part in ("spine", "neck", "tail")
        }
        assert names["tail"] == ["tail", "tail.1"] and names["spine"] == ["back", "back.1"]
        assert names["neck"] == ["neck", "neck.1", "neck.2"]


def test_what_has_no_legs():
    fingers = Bones().add("wrist", [(0, 0, 1), (0, 0, 0.6)])
    for k in range(-2, 3):
        x = 0.1 * k
        fingers.add(
            f"finger{k}", [(x, 0, 0.6), (1.2 * x, 0, 0.3), (1.3 * x, 0, 0.02 * k * k)], "wrist"
        )
    assert fingers.body()[0] is None, "a hand that hangs"
    snake = Bones().add("snake", [(0, 0.1 * k, 0) for k in range(20)])
    assert snake.body()[0] is None
    assert find_body(Bones().add("one", [(0, 0, 0), (0, 0, 1)]).tree(), [], UP) is None


def test_legs_alone_walk():
    bones = human(arms=False)
    body, _tree = bones.body()
    assert body.arms is None and len(body.legs) == 1
    names = [act.name for act in acts_of(body, np.array(bones.heads))]
    assert names[:2] == ["Walk contact L", "Walk down L"] and names[-1] == "Step up R"
    assert not any(name.startswith("Reach") for name in names)


def placed(turns, bone, point):
    return turns[bone][:3, :3] @ point + turns[bone][:3, 3]


@pytest.mark.parametrize("bones", [human(), dog()])
def test_limbs_go_where_they_are_to_go_and_keep_their_lengths(bones):
    body, _tree = bones.body()
    for act in acts_of(body, np.array(bones.heads)):
        for limb, goal in act.goals:
            turns = turns_to(body, limb, goal)
            end = placed(turns, limb.bones[-1], limb.end)
            assert np.allclose(end, within_reach(limb, goal), atol=2e-3), act.name
            for bone, after, joint in zip(
                limb.bones, limb.bones[1:], limb.joints[1:], strict=False
            ):
                assert np.allclose(
                    placed(turns, bone, joint), placed(turns, after, joint), atol=1e-9
                )
            for turn in turns.values():
                assert np.allclose(turn[:3, :3] @ turn[:3, :3].T, np.eye(3), atol=1e-9)


def test_knees_bend_forward_and_hocks_go_on_as_they_bend():
    body, _tree = human().body()
    leg = body.legs[0][0]
    goal = np.array([0.1, -0.2, 0.5])
    knee = placed(turns_to(body, leg, goal), leg.bones[0], leg.joints[1])
    assert knee[1] < goal[1] / 2
    body, _tree = dog().body()
    for leg in body.legs[0]:
        turns = turns_to(body, leg, leg.end + 0.2 * UP)
        knee, hock = (placed(turns, leg.bones[k], leg.joints[k + 1]) for k in (0, 1))
        straight = (leg.root + leg.end) / 2
        assert knee[1] < straight[1] - 0.1 and hock[1] > straight[1] + 0.02
        assert knee[1] < leg.joints[1][1], "it folds farther"


def test_a_straight_limb_of_three_segments_folds():
    bones = Bones().add("trunk", [(0, 0, 1), (0, 0, 1.5)])
    bones.both("leg", [(0.1, 0, 1), (0.1, 0, 0.7), (0.1, 0, 0.35), (0.1, 0, 0.0)], "trunk")
    body, _tree = bones.body()
    leg = body.legs[0][0]
    assert len(leg.bones) in (2, 3)
    goal = leg.end + 0.3 * UP
    assert np.allclose(placed(turns_to(body, leg, goal), leg.bones[-1], leg.end), goal, atol=1e-3)


def test_acts_of_an_animal():
    bones = dog()
    body, _tree = bones.body()
    heads = np.array(bones.heads)
    acts = {act.name: act for act in acts_of(body, heads)}
    assert {"Crouch", "Neck up", "Neck left", "Tail up", "Back down"} <= set(acts)
    neck, tail = body.neck[-1], body.tail[-1]
    head, end = np.array(bones.tails[neck]), np.array(bones.tails[tail])
    assert placed(acts["Neck up"].turns, neck, head)[2] > head[2] + 0.2
    assert placed(acts["Neck left"].turns, neck, head)[0] > 0.2, "its own left"
    assert placed(acts["Tail up"].turns, tail, end)[2] > end[2] + 0.15
    assert placed(acts["Tail left"].turns, tail, end)[0] > 0.15
    feet = [goal for _limb, goal in acts["Walk contact L"].goals]
    assert len(feet) == 4 and len({round(float(foot[1] + foot[2]), 6) for foot in feet}) == 4


def shares_of(bones, turn=None):
    tree = bones.tree(turn=turn)
    every = np.ones(len(tree.heads), bool)
    shares = twist_shares(limbs_of(tree.heads, tree.tails, np.array(bones.parents), every))
    return {bones.names[b]: share for b, share in shares.items()}


LIMBS_OF_HUMAN = {
    f"{limb}_{side}{bone}": share
    for side in "LR"
    for limb, bone, share in (
        ("leg", "", 1), ("leg", ".1", 1 / 3), ("leg", ".2", 2 / 3),
        ("arm", ".1", 1), ("arm", ".2", 1 / 3), ("arm", ".3", 2 / 3),
    )
}  # fmt: skip


@pytest.mark.parametrize("axes", list(itertools.permutations(range(3))))
def test_joints_of_limbs_twist_in_any_orientation(axes):
    assert shares_of(human(), np.eye(3)[list(axes)]) == pytest.approx(LIMBS_OF_HUMAN)


def test_other_bones_twist_no_farther():
    assert not shares_of(Bones().add("tail", [(0, 0, k) for k in range(6)]))
    assert not shares_of(Bones().add("one", [(0, 0, 0), (0, 0, 1)]))
    one_leg = Bones().add("hips", [(0, 0, 1), (0, 0, 1.15)])
    one_leg.add("leg", [(0.1, 0, 1), (0.1, 0, 0.5), (0.1, 0, 0)], "hips")
    assert not shares_of(one_leg)
    fore = {name for name, share in shares_of(dog()).items() if share == 1}
    assert len(fore) == 4 and not any(name.startswith(("neck", "ear", "tail")) for name in fore)


def test_random_poses_twist_limbs():
    bones = human()
    tree = bones.tree()
    skeleton = Skeleton.from_joints(
        tree.heads, np.array(bones.parents), tails=tree.tails, names=bones.names
    )
    limits = np.full_like(skeleton.limits, np.nan)
    limits[bones.names.index("leg_L"), 1] = -0.2, 0.3
    skeleton = replace(skeleton, limits=limits)
    for limb_twist, thigh in ((1.2, 1.2), (0.0, 0.2)):
        options = Options(pose_count=400, twist=0.2, swing=0.0, limb_twist=limb_twist)
        transforms, _bends = sample(skeleton, options, None)
        found = angles(transforms, bones)
        assert found["leg_R"] == pytest.approx(thigh, rel=0.05) and found["leg_R"] <= thigh + 1e-9
        assert found["leg_L"] == pytest.approx(0.3, rel=0.05)  # its own limits
        assert found["spine"] == pytest.approx(0.2, rel=0.05)
        assert found["arm_L.2"] == pytest.approx(max(0.2, limb_twist / 3), rel=0.05)


def angles(transforms, bones):
    """The largest rotation of each bone from its parent."""
    found = {}
    for b, above in enumerate(bones.parents):
        own = transforms[:, b, :, :3]
        if above >= 0:
            own = transforms[:, above, :, :3].transpose(0, 2, 1) @ own
        cosine = (np.trace(own, axis1=1, axis2=2) - 1) / 2
        found[bones.names[b]] = float(np.arccos(np.clip(cosine, -1, 1)).max())
    return found


def named(bones):
    body, tree = bones.body()
    heads, parents = np.array(bones.heads, float), np.array(bones.parents)
    return {each.name: each for each in named_poses(tree, body, heads, parents, UP)}


def place(pose, bones, name, point):
    transform = pose.transforms[bones.names.index(name)]
    return transform[:, :3] @ point + transform[:, 3]


def test_named_poses_of_a_human():
    """Hands are above the head, thighs are level, and fingers turn down to the palms."""
    bones = human()
    poses = named(bones)
    assert list(poses) == ["Arms up", "Sit", "Fist", "Twist"]
    top = max(head[2] for head in bones.heads)
    for side, sign in (("L", 1), ("R", -1)):
        hand = np.array([0.72, 0, 1.42]) * (sign, 1, 1)
        assert place(poses["Arms up"], bones, f"arm_{side}.2", hand)[2] > top
        thigh = bones.names.index(f"leg_{side}")
        knee = place(poses["Sit"], bones, f"leg_{side}", np.array(bones.tails[thigh]))
        assert abs(knee[2] - bones.heads[thigh][2]) < 0.1 and knee[1] < -0.3
        tip = bones.tails[bones.names.index(f"finger1_{side}")]
        assert place(poses["Fist"], bones, f"finger1_{side}", tip)[2] < tip[2] - 0.04
        turn = poses["Twist"].transforms[bones.names.index(f"arm_{side}.3"), :, :3]
        assert np.trace(turn) < 2.5
    around = {bones.names[b] for b in poses["Fist"].around}
    assert around == {"finger0_L", "finger1_L", "finger2_L"}
    still = poses["Sit"].transforms[bones.names.index("spine")]
    np.testing.assert_allclose(still, np.eye(3, 4), atol=1e-12)


def test_a_thumb_tells_the_palm():
    """Thumbs that point forward have palms below, whichever way `up` is. Fingers are straight."""
    hand = [(0.7, 0, 1), (0.8, 0, 1)]
    for sign, forward in ((1, -1), (-1, -1), (1, 1)):
        bones = Bones().both("leg", [(0.1, 0, 0.9), (0.1, -0.02, 0.5), (0.1, 0, 0.1)])
        for name, y in (("wrist_L", forward), ("wrist_R", forward)):
            side = 1 if name.endswith("L") else -1
            bones.add(name, np.array(hand) * (side, 1, 1))
            for k in range(3):
                steps = [(0.8 + 0.03 * i, 0.03 * (k - 1), 1) for i in range(4)]
                bones.add(f"{k}_{name}", np.array(steps) * (side, 1, 1), name)
            steps = [(0.75 + 0.01 * i, y * (0.04 + 0.03 * i), 1) for i in range(3)]
            bones.add(f"thumb_{name}", np.array(steps) * (side, 1, 1), name)
        legs = [Limb(np.array([(s * 0.1, 0, 0.9), (s * 0.1, 0, 0.1)])) for s in (1, -1)]
        body = Body((tuple(legs),), None, UP, np.array([0.0, -1, 0]))
        hands = [bones.names.index(name) for name in ("wrist_L", "wrist_R")]
        fist = _fist(bones.tree(), hands, body, sign * UP)
        for name, side in (("1_wrist_L", 1), ("1_wrist_R", -1)):
            tip = fist.own[bones.names.index(name)] @ (side, 0, 0)
            assert tip[2] * forward > 0.5


def test_named_poses_of_other_bodies():
    assert list(named(Bones().both("leg", [(0.1, 0, 1), (0.1, -0.02, 0.5), (0.1, 0, 0)])))
    poses = named(dog())
    assert list(poses) == ["Walk", "Head down", "Tail up", "Twist"]
    tail = np.array([0, 1, 0.7])
    assert place(poses["Tail up"], dog(), "tail.1", tail)[2] > 0.8


def test_named_poses_without_a_body():
    """A snake curls and twists, and a lone hand makes a fist toward the bend of its fingers."""
    snake = Bones().add("s", [(0, k / 10, 0) for k in range(11)])
    poses, end = named(snake), np.array([0, 1.0, 0])
    assert list(poses) == ["Curl", "Twist"]
    assert np.linalg.norm(place(poses["Curl"], snake, "s.9", end)) < 0.8
    np.testing.assert_allclose(place(poses["Twist"], snake, "s.9", end), end, atol=1e-9)
    hand = Bones().add("wrist", [(0, 0, 0), (0, 0, -0.1)])
    for k in range(4):
        joints = [(0, 0, -0.1), (0, 0.005, -0.14), (0, 0.02, -0.17), (0, 0.04, -0.19)]
        hand.add(f"f{k}", np.array(joints) + np.array([0.03 * k, 0, 0]), "wrist")
    (fist,) = named(hand).values()
    assert fist.name == "Fist" and len(fist.around) == 12
    assert place(fist, hand, "f1", np.array([0.03, 0.005, -0.14]))[1] > 0.03
