"""control_bones(): roots outside the body that carry it, and roots that are the body."""

import araplbs
import numpy as np
import pytest
import shapes
from test_control_bones import ROOT, SERVED, TWIN, Rig

LEGS = (("L", 0.2), ("R", -0.2))


def body(*parts):
    """A rig of these parts without bones."""
    rig = Rig()
    rig.parts, rig.names, rig.heads, rig.tails, rig.parents = list(parts), [], [], [], []
    return rig


def biped(root, tail=None, waist=1.0):
    """A trunk on two legs, with a root from the floor to the hips, between the legs."""
    trunk = shapes.tube(16, 12, 0.35, 1.05, caps=True)
    legs = [shapes.tube(16, 12, 0.12, 1.0, caps=True) for _leg in LEGS]
    rig = body(
        (trunk[0] + np.array([0, 0, 0.95]), trunk[1]),
        *((v + np.array([x, 0, 0]), t) for (v, t), (_side, x) in zip(legs, LEGS, strict=True)),
    )
    rig.add("root", root, (0, 0, waist) if tail is None else tail)
    rig.add("hips", (0, 0, waist), (0, 0, 1.2), "root").add(
        "spine", (0, 0, 1.2), (0, 0, 1.9), "hips"
    )
    for side, x in LEGS:
        rig.add(f"thigh.{side}", (x, 0, waist), (x, 0, 0.5), "hips")
        rig.add(f"shin.{side}", (x, 0, 0.5), (x, 0, 0.02), f"thigh.{side}")
    return rig


@pytest.mark.parametrize("signs", [0, 1, 2])
@pytest.mark.parametrize("tail", [(0, 0, 1.0), (0, 0, 0.5), (0, 0.3, 0), (0, 0.05, 0.9)])
def test_a_root_between_the_legs(tail, signs):
    """The root's tail is at the hips, which continue the root, or elsewhere. The root is tested
    with and without a name."""
    assert biped((0, 0, 0), tail).find(evidence={"root": signs}) == {"root": ROOT}


def test_a_root_below_the_body_which_continues_it():
    rig = Rig().add("root", (0, 0, -3), (0, 0, 0))
    rig.parents[0] = rig.names.index("root")
    assert rig.find() == {"root": ROOT}
    assert rig.find(evidence={"root": -1}) == {}


def test_what_hangs_outside_on_a_root_outside_is_skin():
    """A tail of sheets behind the body: its bones are outside, like its first one."""
    rig = biped((0, 0, 0))
    sheet = shapes.tube(12, 12, 0.2, 1.0)
    x, y = np.cos(np.arange(144) / 40), np.arange(144) / 144
    strip = np.column_stack([0.2 * x, 0.6 + y, np.tile(np.linspace(0.5, 1.5, 12), 12)])
    rig.parts.append((strip, sheet[1]))
    rig.add("cape", (0, 0.55, 1.0), (0, 1.0, 1.0)).add("cape end", (0, 1, 1), (0, 1.6, 1.0), "cape")
    assert rig.find() == {"root": ROOT}


@pytest.mark.parametrize("named", [0, 1, 3])
def test_a_pelvis_that_is_named_root(named):
    """It carries legs and trunk, inside the body: it moves skin, even if its name is that of a
    control of a generator."""
    rig = biped((0, 0, 0))
    del rig.names[0], rig.heads[0], rig.tails[0]
    rig.parents = [-1, *(parent - 1 for parent in rig.parents[2:])]
    rig.names[0], rig.tails[0], rig.heads[1] = "root", (0, 0, 1.03), (0, 0, 1.03)
    assert rig.find(evidence={"root": named}) == {}


def test_a_root_inside_that_carries_a_pelvis_is_no_pelvis():
    rig = biped((0, 0, 1.15), tail=(0, 0.1, 1.15), waist=1.1)
    rig.heads[1] = (0, 0, 1.1)
    assert rig.find() == {}
    assert rig.find(evidence={"root": 3}) == {"root": SERVED}


def passed(height, depth=0.05):
    """A biped whose legs and hips are children of a stub at this height; the hips extend from 1.0
    to 1.2."""
    rig = biped((0, -depth, height), tail=(0, -depth, height + 0.02))
    for side, _x in LEGS:
        rig.parents[rig.names.index(f"thigh.{side}")] = 0
    return rig


@pytest.mark.parametrize("height", [1.04, 1.1, 1.16])
def test_a_root_that_the_body_goes_past(height):
    """With a sign; without one, it is a pelvis next to the first bone of the spine."""
    assert passed(height).find(evidence={"root": 1}) == {"root": SERVED}
    assert passed(height).find() == {}


@pytest.mark.parametrize(("height", "depth"), [(0.98, 0.05), (1.25, 0.05), (1.1, 0.3)])
def test_a_root_that_the_body_does_not_go_past(height, depth):
    """Below the hips, above them, and as far from them as the skin is."""
    assert "root" not in passed(height, depth).find(evidence={"root": 1})


def beetle(floor):
    """A long trunk on four legs; all are children of a bone from the floor to the middle of the
    trunk, where the bone of the body continues."""
    trunk = shapes.sphere(14, 20, 1.0)
    rig = body((trunk[0] * [0.4, 0.8, 0.3] + [0, 0, 0.8], trunk[1]))
    rig.add("master", (0, 0, floor), (0, 0, 0.8)).add("body", (0, 0, 0.8), (0, -0.7, 0.8), "master")
    rig.add("tail", (0, 0.1, 0.8), (0, 0.7, 0.8), "body")
    for x in (-0.8, 0.8):
        for y in (-0.5, 0.5):
            leg = shapes.tube(10, 8, 0.12, 0.8, caps=True)
            rig.parts.append((leg[0] + np.array([x, y, 0]), leg[1]))
            rig.add(f"leg {x} {y}", (x, y, 0.75), (x, y, 0.05), "master")
    return rig


def test_a_root_that_comes_from_outside_into_the_body():
    assert beetle(0).find(evidence={"master": 1}) == {"master": ROOT}
    assert beetle(0).find() == {}


def test_a_root_that_begins_in_the_body():
    assert beetle(0.55).find(evidence={"master": 1}) == {}


def animal(layers, apart=0.0):
    """Trunk and tilted neck of boxes, in layers of which every second one is turned inside out. The
    corners of the trunk are nearer to legs, reins and tail than to the bone inside."""
    neck = shapes.box((0.8, 2.8, 1.6))
    neck = neck[0] @ shapes.rotation([1, 0, 0], np.radians(35)).T + [0, 1.35, 4.5], neck[1]
    parts = []
    for layer in range(layers):
        for vertices, triangles in (shapes.box((2, 2, 4.8), (0, 0, 2.4)), neck):
            middle = vertices.mean(0)
            grown = middle + (vertices - middle) * (1 + apart * layer)
            turned = triangles[:, ::-1] if layer % 2 else triangles
            parts.append((grown, turned))
    rig = body(*parts)
    rig.add("body", (0, 0, 0), (0, 0, 4.7)).add("neck", (0, 0.44, 3.92), (0, 2.2, 5.14), "body")
    rig.add("tail2", (0, 0.63, -0.28), (0, -0.45, -0.92), "body")
    rig.add("tail3", (0, -0.45, -0.92), (0, -1.65, -1.14), "tail2")
    rig.add("leg2.L", (0.69, -1.58, 4.39), (0.69, -2.59, 4.39), "body")
    rig.add("leg1.R", (-0.69, -0.21, 4.38), (-0.69, -1.59, 4.38), "body")
    rig.add("rein.L", (0.52, 1.72, 5.83), (0.82, 1.36, 2.85), "neck")
    return rig.add("rein.R", (-0.49, 1.72, 5.85), (-0.83, 1.36, 2.84), "neck")


@pytest.mark.parametrize("apart", [0.0, 0.03])
@pytest.mark.parametrize("layers", [1, 2, 4])
def test_layers_that_cancel_each_other(layers, apart):
    """Textures with a second layer are modeled like this. The winding number of all is 0."""
    assert "body" not in animal(layers, apart=apart).find()


def vehicle(hull=True):
    """A hull over wheels with bones of their own; all are children of a root below the hull,
    outside it."""
    places = [(x, y) for x in np.linspace(-2, 2, 9) for y in (-1, 1)]
    wheels = [shapes.sphere(7, 10, 0.2, (x, y, 0.2)) for x, y in places]
    parts = [shapes.box((4.6, 1.4, 0.8), (0, 0, 1.0))] if hull else []
    rig = body(*wheels, *parts, shapes.box((1, 1, 0.5), (0, 0, 1.7)))
    rig.add("root", (0, 0, 0.5), (0, 0.01, 0.5)).add("turret", (0, 0, 1.45), (0, 0, 1.9), "root")
    for k, (x, y) in enumerate(places):
        rig.add(f"wheel {k}", (x, y, 0.2), (x, y + 0.01, 0.2), "root")
    return rig


@pytest.mark.parametrize("signs", [0, 1])
def test_a_root_that_is_the_body_of_many_limbs(signs):
    assert vehicle().find(evidence={"root": signs}) == {}


def test_a_root_far_below_many_limbs_is_no_body():
    """There is no skin around it."""
    rig = vehicle()
    rig.heads[0], rig.tails[0] = (0, 0, -4), (0, 0.1, -4)
    assert rig.find() == {"root": ROOT}


def test_a_sure_root_may_have_some_skin():
    """A small piece of the arm beyond its first bone is nearest to the root."""
    rig = Rig()
    rig.heads[0] = (0, 0, 0.45)
    rig.add("root", (0, 0, -0.1), (0, 0.3, -0.1))
    rig.parents[0] = rig.names.index("root")
    assert rig.find(evidence={"root": 2}) == {"root": ROOT}


def by_joints(rig, **more):
    """Control bones found from joints alone: bones reach to all of their children, leaves to the
    skin beyond."""
    vertices, triangles = shapes.join(*rig.parts)
    heads, parents = np.array(rig.heads, float), np.array(rig.parents)
    tails, ways, _found = araplbs.bone_directions(vertices, triangles, heads, None, parents)
    rig.tails = list(tails)
    return rig.find(bone_ways=ways, **more)


def hand():
    """The arm, its root at the joint of its first bone, and a bone at the joint of its last."""
    rig = Rig().add("root", (0, 0, 0.05), (0, 0, 0.1))
    rig.heads[0] = (0, 0, 0.05)
    rig.parents[0] = rig.names.index("root")
    return rig.add("aux", (0, 0, 2), (0, 0, 2.1), "root")


@pytest.mark.parametrize("signs", [0, 1])
def test_a_root_at_the_joint_of_the_body_by_joints(signs):
    """Its way to the other bone passes through the arm and is no evidence; with and without a
    name."""
    assert by_joints(hand(), evidence={"root": signs}) == {"root": SERVED, "aux": TWIN}
    assert "root" not in by_joints(hand(), evidence={"root": -1})


def test_a_root_at_the_joint_of_the_body_with_a_limb_of_its_own_by_joints():
    rig = hand()
    vertices, triangles = shapes.tube(12, 12, 0.2, 2.0, caps=True)
    rig.parts.append((vertices @ shapes.rotation([0, 1, 0], np.pi / 2).T, triangles))
    rig.add("limb", (0.8, 0, 0.05), (1.9, 0, 0.05), "root")
    assert "root" not in by_joints(rig)


def helped(joint, parent):
    """An arm of four joints, and a bone at a joint."""
    rig = Rig().add("finger", (0, 0, 2.6), (0, 0, 2.9), "hand")
    rig.heads[0] = (0, 0, 0.05)
    return rig.add("helper", joint, np.add(joint, (0, 0.1, 0)), parent)


def test_a_helper_at_a_joint_of_a_chain_that_hangs_elsewhere_by_joints():
    rig = helped((0, 0, 2), "upper")
    assert by_joints(rig) == {"helper": TWIN}
    assert by_joints(rig, evidence={"helper": -1}) == {}


@pytest.mark.parametrize(
    ("joint", "parent"),
    [
        ((0, 0, 2), "hand"),  # at the joint of the bone that they hang on, as twist bones
        ((0, 0, 2), "lower"),  # beside one with the same parent
        ((0, 0, 2.6), "upper"),  # at the end of a chain: a foot that hangs on the hips
        ((0, 0.15, 2), "upper"),  # beside the joint
    ],
)
def test_bones_that_are_no_helpers_by_joints(joint, parent):
    assert by_joints(helped(joint, parent)) == {}


def test_a_lone_bone_at_the_joint_of_another_by_joints():
    rig = Rig().add("aux", (0, 0, 2), (0, 0, 2.1))
    rig.heads[0] = (0, 0, 0.05)
    assert by_joints(rig) == {"aux": TWIN}
    assert by_joints(rig, evidence={"aux": -1}) == {}
    rig.heads[-1] = (0.1, 0, 2.5)
    assert by_joints(rig) == {}


def test_a_first_joint_in_the_skin_by_joints():
    """An arm cut from its body begins in the cap of the cut and continues inside. Its parent, a
    bone of the body, is outside."""
    rig = Rig().add("shoulder", (0, 0, -0.5), (0, 0, 0))
    rig.parents[0] = rig.names.index("shoulder")
    assert by_joints(rig) == {"shoulder": ROOT}
