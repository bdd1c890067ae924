"""control_bones() recognizes control bones by their positions, and never takes real bones for
control bones."""

import araplbs
import numpy as np
import pytest
import shapes
from refusals import GOOD, MESH, row, table
from shared_data import Character

DEFORMS, ROOT, OUTSIDE, TWIN, SERVED = range(5)


class Rig:
    """An arm along Z, as a closed tube of radius 0.2 with three bones, and the bones added to
    it."""

    def __init__(self):
        self.parts = [shapes.tube(12, 31, 0.2, 3.0, caps=True)]
        self.names, self.heads, self.tails, self.parents = [], [], [], []
        for k, name in enumerate(("upper", "lower", "hand")):
            self.add(name, (0, 0, k), (0, 0, k + 1), ["upper", "lower"][k - 1] if k else None)

    def add(self, name, head, tail, parent=None):
        self.heads.append(head)
        self.tails.append(tail)
        self.parents.append(self.names.index(parent) if parent else -1)
        self.names.append(name)
        return self

    def root(self):
        """A root on the floor that carries the arm."""
        self.add("root", (0, 0, -0.9), (0.5, 0, -0.9))
        self.parents[0] = self.names.index("root")
        return self

    def find(self, *named, evidence=(), move=lambda points: points, order=None, **more):
        """named: bones with one hint; evidence: {name: sum}."""
        told = dict.fromkeys(named, 1.0) | dict(evidence)
        vertices, triangles = shapes.join(*self.parts)
        order = np.arange(len(self.names)) if order is None else order
        place = np.argsort(order)
        parents = np.array(self.parents)[order]
        control = araplbs.control_bones(
            move(vertices),
            triangles,
            move(np.array(self.heads, float))[order],
            move(np.array(self.tails, float))[order],
            np.where(parents < 0, -1, place[parents]),
            bone_evidence=[told.get(self.names[b], 0) for b in order] if told else None,
            **more,
        )[place]
        return {name: why for name, why in zip(self.names, control, strict=True) if why}


def ik_copy():
    rig = Rig().root().add("copy", (0, 0, 2), (0, 0, 3.3), "root")
    return rig, {"root": ROOT, "copy": TWIN}


def ik_chain():
    """A complete copy of the arm on the root: one of the two stays."""
    rig = Rig().root()
    rig.add("copy 1", (0, 0, 0), (0, 0, 1), "root").add("copy 2", (0, 0, 1), (0, 0, 2), "copy 1")
    return rig, {"root": ROOT, "copy 1": TWIN, "copy 2": TWIN}


def copy_in_the_tree():
    """A copy of the arm's end, on the same bone: the one with a finger stays."""
    rig = Rig().add("finger", (0, 0, 2.5), (0, 0, 3), "hand")
    rig.add("copy 1", (0, 0, 1), (0, 0, 2), "upper").add("copy 2", (0, 0, 2), (0, 0, 3), "copy 1")
    return rig, {"copy 1": TWIN, "copy 2": TWIN}


def pole_target():
    return Rig().root().add("pole", (0, 1.5, 1), (0, 2, 1), "root"), {"root": ROOT, "pole": OUTSIDE}


def far_pole_of_the_hand():
    return Rig().add("pole", (0, 2, 2.5), (0, 2.3, 2.5), "lower"), {"pole": OUTSIDE}


CASES = [ik_copy, ik_chain, copy_in_the_tree, pole_target, far_pole_of_the_hand]


@pytest.mark.parametrize("case", CASES)
def test_found_without_names(case):
    rig, expected = case()
    assert rig.find() == expected


def test_root_alone():
    assert Rig().root().find() == {"root": ROOT}
    assert Rig().find() == {}


def test_slot_needs_its_name():
    rig = Rig().add("slot", (0, 0.1, 2.6), (0, 0.4, 2.6), "hand")
    assert rig.find() == {}
    assert rig.find("slot") == {"slot": SERVED}


@pytest.mark.parametrize("name", ["upper", "lower", "hand"])
def test_a_name_alone_says_nothing(name):
    assert Rig().find(name) == {}
    assert Rig().root().find(name) == {"root": ROOT}


def test_names_that_all_bones_have_say_nothing():
    rig = Rig().add("slot", (0, 0.1, 2.6), (0, 0.4, 2.6), "hand")
    assert rig.find(*rig.names) == {}


def test_end_of_a_chain_takes_a_sure_sign():
    rig = Rig().add("tip", (0, 0, 2.9), (0, 0, 3.5), "hand")
    rig.tails[2] = (0, 0, 2.9)
    assert rig.find("tip") == {}
    assert rig.find(evidence={"tip": 2}) == {"tip": SERVED}


def test_a_sure_sign_does_not_take_skin():
    """The sign applies to a hand, the end of its chain, whose skin no other bone serves."""
    for name in ("upper", "lower", "hand"):
        assert Rig().find(evidence={name: 3}) == {}


def test_control_between_others():
    """The control carries two eyes, neither of which starts at its tail."""
    rig = Rig().add("aim", (0, 0, 2.5), (0, 0.1, 2.5), "hand")
    for side in (-1, 1):
        rig.add(f"eye {side}", (0.12 * side, 0.12, 2.5), (0.12 * side, 0.2, 2.5), "aim")
    assert rig.find() == {}
    assert rig.find("aim") == {"aim": SERVED}


def test_root_inside_the_body():
    """It leads up into the arm, which continues it, so a sure sign is required."""
    rig = Rig().add("root", (0, 0, -0.6), (0, 0, 0.2))
    rig.parents[0] = rig.names.index("root")
    rig.heads[0] = (0, 0, 0.2)
    assert rig.find("root") == {}
    assert rig.find(evidence={"root": 3}) == {"root": ROOT}


def test_evidence_of_skin_keeps_a_copy():
    rig, expected = ik_chain()
    copies = ("copy 1", "copy 2")
    assert rig.find() == expected
    assert rig.find(evidence=dict.fromkeys(copies, -1)) == {"root": ROOT}
    # Not from being away from all skin.
    rig = pole_target()[0]
    assert rig.find(evidence={"pole": -3}) == {"root": ROOT, "pole": OUTSIDE}


def test_a_prop_has_parts_of_its_own():
    """A hat over the hand, whose bone lies along the upper half of the hand and beyond."""

    def arm(hat):
        rig = Rig().root().add("hat", (0, 0.02, 2.5), (0, 0.02, 3.6))
        if hat:
            vertices, triangles = shapes.tube(12, 9, 0.3, 0.8, caps=True)
            rig.parts.append((vertices + np.array([0, 0, 2.9]), triangles))
        return rig

    assert arm(hat=False).find() == {"root": ROOT, "hat": TWIN}
    assert arm(hat=True).find() == arm(hat=True).find("hat") == {"root": ROOT}
    assert "hat" in arm(hat=False).find(evidence={"hat": 2})


def test_two_controls_of_the_same_skin():
    """Each has little gain because of the other, and one of them stays."""
    rig = Rig()
    rig.tails[2] = (0, 0, 2.2)  # most of the hand is theirs
    for k, x in enumerate((-0.01, 0.01)):
        rig.add(f"control {k}", (x, 0.02, 2.4), (x, 0.02, 2.9), "hand")
    assert list(rig.find(evidence={"control 0": 1, "control 1": 1.5})) == ["control 1"]


def test_foot_that_hangs_on_the_root():
    """The only bone in its skin, starting at the end of the chain, as in many IK legs."""
    rig = Rig().root()
    rig.tails[2], rig.heads[2] = (0, 0.9, 3.0), (0, 0.02, 3.0)
    foot = shapes.tube(12, 16, 0.2, 1.0, caps=True)
    rig.parts.append((foot[0] @ shapes.rotation([1, 0, 0], -np.pi / 2).T + [0, 0, 3.0], foot[1]))
    rig.tails[1] = (0, 0, 3.0)
    rig.parents[2] = rig.names.index("root")
    assert rig.find() == {"root": ROOT}
    assert rig.find("hand") == {"root": ROOT}


def test_lone_tail_outside_the_body():
    """A tail is a thin part of its own, with bones that lie apart from the body and off the tail's
    middle."""
    rig = Rig()
    tail = shapes.tube(6, 12, 0.03, 1.5)
    rig.parts.append((tail[0] @ shapes.rotation([1, 0, 0], -np.pi / 2).T + [0, 0.3, 0.3], tail[1]))
    rig.add("tail", (0, 0.3, 0.34), (0, 1.0, 0.34), "upper")
    rig.add("tip", (0, 1.0, 0.34), (0, 1.8, 0.34), "tail")
    assert rig.find() == {}
    assert rig.find("tail", "tip") == {}


def test_layered_armor():
    """A plate over the upper arm with a bone between the two layers."""
    rig = Rig()
    rig.parts.append(shapes.tube(12, 11, 0.3, 0.9))
    rig.add("plate", (0, 0.25, 0.05), (0, 0.25, 0.85), "upper")
    assert rig.find() == {}


def test_sheet_is_no_outside():
    """Bones in a single sheet, which has no inside, next to their root."""
    x, z = np.meshgrid(np.linspace(0, 1, 9), np.linspace(0, 3, 25))
    vertices = np.column_stack([x.ravel() - 0.5, 0 * x.ravel(), z.ravel()])
    corner = (np.arange(24)[:, None] * 9 + np.arange(8)).ravel()
    triangles = np.concatenate([corner[:, None] + [0, 1, 10], corner[:, None] + [0, 10, 9]])
    rig = Rig()
    rig.parts = [(vertices, triangles)]
    assert rig.find() == {}


def test_copies_with_equal_claims_stay():
    rig = Rig().add("a", (0.2, 0, 2), (1, 0, 2), "lower").add("b", (0.2, 0, 2), (1, 0, 2), "lower")
    assert rig.find() == {}
    assert rig.find("b") == {"b": TWIN}


def test_complete_copies_stay_unless_something_tells():
    """Two complete arms on one root. A name decides, or a parent that is a control."""
    rig = Rig().root()
    for k, parent in enumerate(("root", "copy 0", "copy 1")):
        rig.add(f"copy {k}", (0, 0, k), (0, 0, k + 1), parent)
    copies = [f"copy {k}" for k in range(3)]
    assert rig.find() == {"root": ROOT}
    assert rig.find(*copies) == {"root": ROOT} | dict.fromkeys(copies, TWIN)
    rig.add("control", (0, 1, -0.8), (0.5, 1, -0.8), "root")
    rig.parents[rig.names.index("copy 0")] = rig.names.index("control")
    assert rig.find() == {"root": ROOT, "control": ROOT} | dict.fromkeys(copies, TWIN)


def test_helper_under_the_bone_that_deforms():
    """As with Rigify's ORG and DEF bones, one is the parent of the other, so a name must decide."""
    rig = Rig()
    for name, k in (("DEF lower", 1), ("DEF hand", 2)):
        rig.add(name, (0, 0, k), (0, 0, k + 1), rig.names[k])
    assert rig.find() == {}
    assert rig.find("lower", "hand") == {"lower": TWIN, "hand": TWIN}


def test_one_of_two_named_copies_stays():
    """Both chains are children of the root and have names of controls, but the skin is not left
    without bones."""
    rig = ik_chain()[0]
    found = rig.find("upper", "lower", "hand", "copy 1", "copy 2")
    assert found.pop("root") == ROOT
    assert not {"upper", "lower", "hand"} & set(found)


def test_bones_that_do_not_deform_are_not_asked_about():
    rig = pole_target()[0]
    deform = np.array([name != "root" for name in rig.names])
    assert rig.find(bone_deform=deform) == {"pole": OUTSIDE}


def test_a_bone_is_always_left():
    vertices, triangles = shapes.tube(6, 5)
    far = np.array([[9.0, 9, 9]])
    named = [1.0]
    args = vertices, triangles, far, far + 1, [-1]
    assert not araplbs.control_bones(*args, bone_evidence=named).any()
    heads = np.repeat(far, 3, 0)
    control = araplbs.control_bones(vertices, triangles, heads, heads + 1, [-1, 0, 1])
    assert (control == 0).any()


def test_bones_of_no_length_and_mesh_without_faces():
    rig = ik_copy()[0]
    assert rig.add("dot", (0, 0, 2.5), (0, 0, 2.5), "hand").find() == ik_copy()[1]
    edges = np.array([[0, 1], [1, 2]])
    bones = rig.heads, rig.tails, rig.parents
    assert not araplbs.control_bones(np.eye(3), None, *bones, edges=edges).any()


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("scale", [1e-3, 1, 1e3])
def test_the_same_wherever_the_scene_is(case, scale):
    rig, expected = case()
    rng = np.random.default_rng(5)
    for k in range(4):
        turn = shapes.random_rotations(rng, 1)[0]

        def move(points, turn=turn):
            return scale * (points @ turn.T + [3, -1, 2])

        order = rng.permutation(len(rig.names))
        assert rig.find(move=move, order=order, threads=k + 1) == expected
    rig.parts = [(v, t[:, ::-1]) for v, t in rig.parts]
    assert rig.find() == expected


def test_volume():
    vertices, tets = shapes.bar((2, 2, 8))
    heads = np.array([[0, 0, 0.1], [0, 0, 1], [0, 2, 1.0], [0, 0, -1]])
    tails = np.array([[0, 0, 1], [0, 0, 1.9], [0, 2.4, 1], [0, 1, -1]])
    bones = heads, tails, [3, 0, 3, -1]
    control = araplbs.control_bones(vertices, None, *bones, tets=tets)
    np.testing.assert_array_equal(control, [DEFORMS, DEFORMS, OUTSIDE, ROOT])


NAMED = {
    "knight": ("IK", "slot", "control", "root"),
    "mage": ("IK", "slot", "control", "root"),
    "q_wasp": ("Root",),
    "q_snake": ("Root", "Target"),
    "q_dress": ("Target",),
    "q_robot": ("Target",),
    "fox_soup": ("Root", "root"),
}
FOUND = {
    "knight": 21,
    "mage": 21,
    "q_wasp": 2,
    "q_snake": 3,
    "q_dress": 3,
    "q_robot": 3,
    "fox_soup": 2,
    "m2m_horse": 1,
    "m2m_human": 1,
    "q_rat": 1,
    "mh_game": 1,
}
UNTOUCHED = ["cesium_man", "dog", "leap_hand", "mh_base", "q_cat_wire", "q_eagle", "webxr_hand"]
BROAD = ["sintel", "ranger", "m2m_dragon", "q_trex", "human_game_engine"]


@pytest.mark.parametrize("hints", [True, False])
@pytest.mark.parametrize("name", [*FOUND, *UNTOUCHED, *BROAD])
@pytest.mark.slow
def test_no_bone_of_an_artist_is_lost(name, hints):
    """No bone with more than 0.7 percent of the weights; with hints, no bone that moves skin."""
    character = Character(name)
    data = character.data
    words = NAMED.get(name, ("root",))
    named = [any(word in str(bone) for word in words) for bone in data["bone_names"]]
    deform = data["bone_deform"].astype(bool)
    control = araplbs.control_bones(
        *character.arguments,
        bone_deform=deform,
        bone_evidence=np.array(named, float) if hints else None,
        edges=character.edges,
    )
    share = character.artist.sum(0) / character.artist.sum()
    assert share[control > 0].max(initial=0) < 0.007  # a root below a body, weighted by heat
    assert not control[~deform].any()
    if hints and name in FOUND:
        assert ((control > 0) & (share < 1e-4)).sum() == FOUND[name]
    if name in UNTOUCHED:
        assert not control.any()


@pytest.mark.parametrize(("name", "found"), [("m2m_human", 75), ("m2m_dragon", 87)])
def test_whole_control_rigs(name, found):
    """After an import, the control rig and the deforming bones are all flagged Deform."""
    character = Character(name)
    control = araplbs.control_bones(*character.arguments)
    deform = character.data["bone_deform"].astype(bool)
    assert np.count_nonzero(control[~deform]) == found
    share = character.artist.sum(0) / character.artist.sum()
    assert share[control > 0].max() < 1e-4


test_bad_arguments = table(
    araplbs.control_bones,
    GOOD,
    row("triangle", triangles=MESH[1] + 1),
    row("parents form a loop", bone_parents=[1, 2, 0]),
    row("bone_evidence contains nan: not finite", bone_evidence=[0, np.nan, 0]),
    row("bone_evidence has shape", bone_evidence=[1.0]),
    row("bone_evidence", bone_evidence=["IK", "", ""], kind=TypeError),
    row("bone_deform has shape", bone_deform=[True]),
    row("no bone of the skeleton deforms", bone_deform=[False] * 3),
)


def test_a_bone_is_compared_again_when_another_is_dropped():
    """When the two bones that it lies on are dropped, the last bone stays."""
    mesh = shapes.tube(10, 20, 0.25, 4.0, caps=True)
    low = [(0, 0, 0.2), (0, 0, 1.4), (0, 0, 2.6)]
    low += [(-0.025, 0.004, 0.311), (0.023, -0.024, 0.579), (-0.053, 0.016, 0.539)]
    high = [1.4, 2.6, 3.8, 1.101, 1.031, 1.039]
    heads = np.array(low)
    tails = np.column_stack([heads[:, :2], high])
    found = araplbs.control_bones(*mesh, heads, tails, np.array([-1, 0, 1, -1, -1, -1]))
    assert (found > 0).tolist() == [False, False, False, True, True, False]
