"""The poses that are played, and the limbs of a skeleton."""

import numpy as np
import pytest
from araplbs.body.chains import Tree
from araplbs.features.range_of_motion import Motion, in_turn
from araplbs.skeleton.skeleton import Skeleton

UP = np.array([0.0, 0.0, 1.0])


def biped():
    """Hips, spine, neck, head, arms with clavicles, twist bones and fingers, legs with feet."""
    bones = [
        ("hips", (0, 0, 1), (0, 0, 1.15), None),
        ("spine", (0, 0, 1.15), (0, 0, 1.45), "hips"),
        ("neck", (0, 0, 1.5), (0, 0, 1.6), "spine"),
        ("head", (0, 0, 1.6), (0, 0, 1.75), "neck"),
    ]
    for side, x in (("L", 1), ("R", -1)):

        def at(along, z, y=0.0, x=x):
            return x * along, y, z

        bones += [
            (f"thigh.{side}", at(0.1, 1), at(0.1, 0.52), "hips"),
            (f"shin.{side}", at(0.1, 0.52), at(0.1, 0.08), f"thigh.{side}"),
            (f"foot.{side}", at(0.1, 0.08), at(0.1, 0, -0.18), f"shin.{side}"),
            (f"clavicle.{side}", at(0.03, 1.45), at(0.18, 1.45), "spine"),
            (f"arm.{side}", at(0.18, 1.45), at(0.45, 1.45, 0.02), f"clavicle.{side}"),
            (f"twist.{side}", at(0.3, 1.45), at(0.35, 1.45), f"arm.{side}"),
            (f"forearm.{side}", at(0.45, 1.45, 0.02), at(0.7, 1.45), f"arm.{side}"),
            (f"hand.{side}", at(0.7, 1.45), at(0.78, 1.45), f"forearm.{side}"),
        ]
        for k, finger in enumerate(("index", "middle", "ring")):
            y = 0.02 * (k - 1)
            bones += [
                (f"{finger}1.{side}", at(0.79, 1.45, y), at(0.83, 1.45, y), f"hand.{side}"),
                (f"{finger}2.{side}", at(0.83, 1.45, y), at(0.86, 1.45, y), f"{finger}1.{side}"),
            ]
    names = [name for name, *_rest in bones]
    parents = np.array([names.index(up) if up else -1 for *_rest, up in bones])
    heads, tails = (np.array([bone[k] for bone in bones], float) for k in (1, 2))
    return Skeleton.from_joints(heads, parents, tails=tails, names=names)


@pytest.mark.parametrize(
    ("bone", "limb"),
    [
        ("forearm.L", "clavicle.L arm.L twist.L forearm.L hand.L"),
        ("twist.R", "clavicle.R arm.R twist.R forearm.R hand.R"),
        ("index2.L", "index1.L index2.L"),
        ("foot.R", "thigh.R shin.R foot.R"),
        ("head", "neck head"),
        ("spine", "spine"),
    ],
)
def test_limbs(bone, limb):
    made = biped()
    tree = Tree(made.heads, made.tails, made.parents, made.deform)
    found = [made.names[b] for b in tree.limb(made.names.index(bone))]
    assert set(found) == set(limb.split()) and found[0] == limb.split()[0]


def test_short_legs_below_long_arms():
    """A branch of several bones is a limb even if another one is three times as long."""
    ends = [(0, 0, 1), (0, 0, 2), (0, 0, 3), (0.1, 0, 0.6), (0.1, 0, 0.3)]
    heads = np.array([(0, 0, 0.9), ends[0], ends[1], (0.1, 0, 0.9), ends[3]], float)
    parents = np.array([-1, 0, 1, 0, 3])
    tree = Tree(heads, np.array(ends, float), parents, np.ones(5, bool))
    assert tree.limb(4) == [3, 4] and tree.limb(2) == [1, 2] and tree.limb(0) == [0]


def motion(skeleton):
    poses = [(None, {})]
    for name in skeleton.names:
        poses += [
            (f"{name} {turn}", {(name, "r"): (k,)}) for k, turn in enumerate(("X +45", "X -45"))
        ]
        poses.append((None, {}))
    return Motion([*poses, ("Walk 1", {("hips", "r"): (3,)})], {}, 0, 0, True, None, [])


def test_in_turn():
    made = biped()
    found = in_turn(motion(made), made, UP)
    parts = list(dict.fromkeys(part for part, _name, _pose in found))
    assert parts == ["Arms", "Legs", "Spine", "Fingers", "Walk 1"]
    first = found[0][2]
    assert set(first) == {("clavicle.L", "r"), ("clavicle.R", "r")}, "both sides at once"
    fingers = [pose for part, _name, pose in found if part == "Fingers"]
    assert len(fingers) == 2 and all(len(pose) == 12 for pose in fingers), "all at once"
    moved = {bone for _part, _name, pose in found for bone, _channel in pose}
    assert moved == set(made.names), "no bone is forgotten"


def test_one_bone():
    made = biped()
    found = in_turn(motion(made), made, UP, "forearm.L")
    assert [name for _part, name, _pose in found] == ["forearm.L X +45", "forearm.L X -45"]
    assert all(set(pose) == {("forearm.L", "r")} for _part, _name, pose in found)


def test_without_a_body():
    made = biped()
    few = np.array([name in {"spine", "neck"} for name in made.names])
    made.deform &= few
    found = in_turn(motion(made), made, UP, "neck")
    assert {part for part, _name, _pose in found} == {"All Bones"}
