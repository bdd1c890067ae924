"""Evidence shows which bones move skin: each kind alone, its weight, and generators."""

import importlib
import itertools

import numpy as np
import pytest
from araplbs.model.sparse_weights import sparse_of


def core(name):
    return importlib.import_module(f"araplbs.{name}")


def facts(names=("a", "b", "c", "d"), parents=None, **marks):
    """marks: {fact: bones to which it applies}."""
    m = len(names)
    found = core("skeleton.bone_facts").BoneFacts(
        list(names), np.ones(m, bool), np.full(m, -1) if parents is None else parents, np.arange(m)
    )
    for fact, bones in marks.items():
        setattr(found, fact, np.isin(np.arange(m), bones))
    return found


def sums(*args, **marks):
    return core("skeleton.bone_evidence").weigh(facts(*args, **marks)).sums.tolist()


@pytest.mark.parametrize(
    ("fact", "worth"),
    [
        *(("pole_target", 3), ("ik_target", 2), ("strays", 2)),
        *(("aimed_at", 1), ("followed", 1), ("choice", 1), ("carries", 1)),
        *(("control_collection", 1), ("drives", 0.5), ("apart", 1), ("handle", 0.5)),
        *(("spanned", 4), ("lesser", 10)),
        *(("shaped", 0.5), ("colored", 0.5), ("visible", 0.5)),
        *(("deform_collection", -1), ("locked", -1), ("pulled", -1), ("bendy", -0.5)),
        ("has_parts", -1),
        *(("copies", -2), ("painted", -3)),
    ],
)
def test_what_a_fact_is_worth(fact, worth):
    assert sums(**{fact: [1]}) == [0, worth, 0, 0]


def test_names():
    assert sums(("hand", "handIK", "head", "camera")) == [0, 1, 0, 1]


def test_no_facts_no_evidence():
    assert sums() == [0, 0, 0, 0]


@pytest.mark.parametrize("fact", ["shaped", "colored", "visible"])
def test_what_most_bones_have_sets_none_apart(fact):
    assert sums(**{fact: [0, 1]}) == [0.5, 0.5, 0, 0]
    assert sums(**{fact: [0, 1, 2]}) == [0, 0, 0, 0]


def test_several_marks_set_apart_once():
    assert sums(shaped=[1], colored=[1], visible=[1]) == [0, 0.5, 0, 0]


def test_bones_that_do_not_deform_are_not_counted():
    found = facts(shaped=[0, 1, 2])
    found.deform[1:] = False
    found.deform[3] = True
    assert core("skeleton.bone_evidence").weigh(found).sums[0] == 0.5


@pytest.mark.parametrize("fact", ["ik_target", "aimed_at"])
def test_both_ends_of_a_piston(fact):
    """Each end of a piston aims at the other, but neither is a target."""
    assert sums(**{fact: [0, 1], "pulled": [0, 1]}) == [-1, -1, 0, 0]


def test_both_sides_are_told_alike():
    found = facts(ik_target=[1])
    found.opposite = np.array([0, 2, 1, 3])
    assert core("skeleton.bone_evidence").weigh(found).sums.tolist() == [0, 2, 2, 0]


def test_words_for_people():
    evidence = core("skeleton.bone_evidence").weigh(
        facts(("hand", "handIK", "c", "d"), ik_target=[1])
    )
    assert evidence.words(0) == ""
    assert evidence.words(1) == "IK target, name"
    assert [kind.identifier for kind in evidence.of(1)] == ["IK", "NAME"]


def test_kinds_are_distinct():
    kinds = core("skeleton.bone_evidence").KINDS
    assert len({kind.identifier for kind in kinds}) == len(kinds)
    assert len({kind.words for kind in kinds}) == len(kinds)


# A few bones of each generator: (those that deform, controls and ends, others).
RIGS = {
    "Rigify": (
        ["DEF-spine", "DEF-thigh.L", "DEF-hand.L"],
        ["ORG-spine", "MCH-spine", "hand_ik.L", "upper_arm_fk.L", "root", "f_index.01.L_12",
         "f_ring.01_master.L", "thumb.02.R", "forearm_tweak.L.001_9", "hand_fk.L_7", "root_1"],
        ["torso"],
    ),
    "CloudRig": (
        ["DEF-Hips", "DEF-Arm1.L"],
        ["STR-Hips", "FK-Arm.L", "IK-Arm.L"],
        ["Properties"],
    ),
    "BlenRig": (
        ["arm_def_L", "fing_ind_1_def_R", "eyelid_low_line_def_3_L"],
        [],
        ["head_def_mstr", "arm_mstr_L", "arm_fk_ctrl_L", "maxi"],
    ),
    "Auto-Rig Pro": (
        ["c_arm_stretch.r", "c_forearm_twist.r", "c_index2.r", "index1.l"],
        ["cc_item.r", "hand_ref.l", "c_traj"],
        ["c_hand_shape.r", "head.x"],
    ),
    "Mixamo": (
        [],
        ["mixamorig:HeadTop_End", "mixamorig:LeftHandIndex4", "mixamorig:LeftToe_End"],
        ["mixamorig:LeftForeArm", "mixamorig:LeftUpLeg", "mixamorig:LeftHandIndex1",
         "mixamorig:LeftToeBase"],
    ),
    "VRM": (
        ["J_Bip_C_Hips", "J_Bip_C_Spine", "J_Bip_L_Hand", "J_Bip_R_Hand", "J_Sec_Hair1_01"],
        ["Root", "root", "J_Sec_Hair1_end_01"],
        ["HairJoint"],
    ),
    "MMD": (
        ["左足D", "右ひざD"],
        ["全ての親", "センター", "左足ＩＫ", "_dummy_左足D", "左人指先"],
        ["上半身", "左腕", "左足"],
    ),
    "Unreal": (
        ["upperarm_twist_01_l"],
        ["root", "ik_foot_root", "ik_hand_gun", "weapon_r"],
        ["pelvis", "spine_01", "upperarm_l", "thigh_r", "ball_l"],
    ),
    "Unity": (
        [],
        ["Root", "Jaw_end", "HeadNub"],
        ["LeftUpperLeg", "RightLowerLeg", "LeftUpperArm", "RightLowerArm"],
    ),
    "Daz": (
        ["lShldrBend", "rThighTwist", "lForearmBend"],
        ["Genesis8Female"],
        ["abdomenLower", "pelvis", "hip"],
    ),
    "Biped": (
        [],
        ["Bip001", "Bip001 Footsteps", "Bip001 HeadNub", "Bip001 Prop1"],
        ["Bip001 L UpperArm", "Bip001 R Forearm", "Bip001 L Thigh", "Bip001 R Calf"],
    ),
    "Second Life": (
        [],
        ["PELVIS", "BELLY", "L_UPPER_LEG", "LEFT_PEC", "R_FOOT"],
        ["mPelvis", "mTorso", "mHipLeft", "mElbowRight", "mWristRight"],
    ),
    "OpenXR": (
        [],
        ["Index_Tip_L", "Palm_L"],
        ["Index_Metacarpal_L", "Index_Proximal_L", "Index_Intermediate_L", "Index_Distal_L"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGS)
def test_generators(name):
    generators = core("skeleton.generators")
    skin, controls, others = RIGS[name]
    found = generators.recognize([*skin, *controls, *others])
    assert [generator.name for generator in found] == [name]
    names = [*skin, *controls, *others]
    assert [n for n in names if generators.says_skin(found, n)] == skin
    assert [n for n in names if generators.says_control(found, n)] == controls


@pytest.mark.parametrize("name", RIGS)
def test_a_generator_is_not_recognized_by_one_name(name):
    generators = core("skeleton.generators")
    for bone in itertools.chain(*RIGS[name]):
        assert not generators.recognize([bone, "hand", "foot", "head", "neck"])


def test_every_generator_is_tested():
    assert [generator.name for generator in core("skeleton.generators").GENERATORS] == list(RIGS)


def test_worth_of_generators():
    names = ("DEF-spine", "DEF-thigh.L", "ORG-spine", "ORG-thigh.L", "torso")
    assert sums(names) == [-3, -3, 3, 3, 0]  # ORG is a name of controls, too


def skeleton(heads, tails):
    from_joints = core("skeleton.skeleton").Skeleton.from_joints
    return from_joints(heads, np.full(len(heads), -1), tails=tails)


SPANS = [(0, 1), (1, 2.5), (2.5, 4)]  # from one bone's head at 0 to its tail at 4


@pytest.mark.parametrize(
    ("spans", "beside", "expected"),
    [
        (SPANS, 0.0, True),
        (SPANS[::-1], 0.3, True),
        (SPANS, 0.5, False),
        (SPANS[:2], 0.0, False),
        (SPANS[1:], 0.0, False),
        ([(0, 1), (1.5, 4)], 0.0, False),
        ([(0, 1), (0, 2), (1, 4)], 0.0, True),  # by the first and the last
        ([(0, 4)], 0.0, False),  # a double
        ([(1, 0), (1, 4)], 0.0, False),
    ],
)
def test_a_bone_that_a_chain_of_others_spans(spans, beside, expected):
    heads = [(0, 0, 0), *((beside, 0, begin) for begin, _end in spans)]
    tails = [(0, 0, 4), *((beside, 0, end) for _begin, end in spans)]
    turn = np.linalg.qr(np.arange(9.0).reshape(3, 3) ** 2 + np.eye(3))[0]
    for move in (lambda p: p, lambda p: 1e-3 * np.array(p) @ turn + 2):
        bones = skeleton(move(heads), move(tails))
        found = core("skeleton.bone_facts").spanned(bones)
        assert found.tolist() == [expected] + [False] * len(spans)
        bones.deform[1] = False
        assert not core("skeleton.bone_facts").spanned(bones).any()


def tail_of(names, length=0.5, turn=0.0, parents=(-1, 0, 1, 2)):
    """A chain whose last bone has this length and is rotated by this angle."""
    ways = np.array([[0.5, 0, 0]] * 3 + [[length * np.cos(turn), length * np.sin(turn), 0]])
    heads = np.array([[0.5 * k, 0, 0] for k in range(4)])
    bones = skeleton(heads, heads + ways)
    bones.names, bones.parents = list(names), np.array(parents)
    return core("skeleton.bone_facts").leaf_bones(bones).tolist()


CHAIN = ("a", "b", "c")


@pytest.mark.parametrize(
    "name", ["c_end", "c_End", "HeadTop_End", "Bip01 HeadNub", "c_leaf", "X.L_end"]
)
def test_leaf_bones_of_exporters(name):
    assert tail_of((*CHAIN, name)) == [False, False, False, True]
    assert tail_of((*CHAIN, name), length=0.505, turn=0.1)[3]


def test_ends_that_somebody_has_drawn_are_skin():
    assert not any(tail_of((*CHAIN, "c_end"), length=0.4))
    assert not any(tail_of((*CHAIN, "c_end"), turn=0.4))


def test_ends_with_bones_on_them_are_skin():
    assert tail_of(("a", "b_end", "b_end_end", "d")) == [False] * 4
    assert tail_of(("a", "b", "c_end", "c_end_end")) == [False, False, False, True]


def test_equal_bones_are_no_leaves_without_a_name():
    """A tentacle."""
    assert not any(tail_of(("b1", "b2", "b3", "b4")))
    assert not any(tail_of(("end", "b2", "b3", "b4")))


def test_a_leaf_of_a_bone_that_does_not_deform():
    bones = skeleton([(0, 0, 0), (0, 0, 1)], [(0, 0, 1), (0, 0, 2)])
    bones.names, bones.parents = ["a", "a_end"], np.array([-1, 0])
    assert core("skeleton.bone_facts").leaf_bones(bones).tolist() == [False, True]
    bones.deform[1] = False
    assert not core("skeleton.bone_facts").leaf_bones(bones).any()


def test_a_bone_without_length_spans_nothing():
    assert not core("skeleton.bone_facts").spanned(skeleton([(0, 0, 0)] * 3, [(0, 0, 0)] * 3)).any()


TWO = [(0, 0, 0), (0, 0, 1), (0.5, 0, 0.5)], [(0, 0, 1), (0, 0, 2), (0.8, 0, 0.5)]


@pytest.mark.parametrize(("way", "expected"), [(0.3, False), (2.0, True)])
def test_strays(way, expected):
    """A bone next to two others moves by less, and by more, than its distance from them."""
    bones = skeleton(*TWO)
    poses = np.tile(np.eye(4)[:3], (2, 3, 1, 1))
    poses[1, 2, 0, 3] = way
    asked = np.array([False, False, True])
    points = np.array([[0.2, 0, 1.0]])
    found = core("skeleton.bone_facts").strays(poses, bones, points, asked)
    assert found.tolist() == [False, False, expected]
    poses[1, 0, 0, 3] = way  # one of the others goes along
    assert not core("skeleton.bone_facts").strays(poses, bones, points, asked).any()


def test_strays_nowhere():
    bones, asked = skeleton(*TWO), np.ones(3, bool)
    facts = core("skeleton.bone_facts")
    assert not facts.strays(np.zeros((0, 3, 3, 4)), bones, np.zeros((0, 3)), asked).any()
    assert not facts.strays(np.ones((1, 3, 3, 4)), bones, np.zeros((0, 3)), asked).any()


def test_painted():
    """The last bone leads skin that is nearer to another one; skin near to itself would say
    nothing."""
    bones, asked = skeleton(*TWO), np.array([False, False, True])
    points = np.array([[0.05, 0, 0.5], [0.05, 0, 0.6], [0.7, 0, 0.5]])
    dense = np.array([[0.3, 0, 0.7], [0.2, 0, 0.8], [0, 0, 1.0]])
    painted = core("skeleton.bone_facts").painted
    assert painted(points, sparse_of(dense), bones, asked).tolist() == [False, False, True]
    assert not painted(points, sparse_of(dense), bones, np.zeros(3, bool)).any()
    dense[:2] = [[0.5, 0, 0.5]]  # leads nothing there
    assert not painted(points, sparse_of(dense), bones, asked).any()


def test_distances_as_by_brute_force():
    rng = np.random.default_rng(3)
    bones = skeleton(rng.normal(size=(4, 3)), rng.normal(size=(4, 3)))
    points, steps = rng.normal(size=(20, 3)), np.linspace(0, 1, 2001)[:, None]
    along = [bones.heads[b] + steps * (bones.tails[b] - bones.heads[b]) for b in range(4)]
    brute = np.array([[np.linalg.norm(x - p, axis=1).min() for x in along] for p in points])
    module = core("skeleton.bone_distances")
    np.testing.assert_allclose(
        module.distances_from_own(points[:, None], bones, np.arange(4)), brute, atol=1e-5
    )
    own = np.arange(20) % 4
    found = module.distances_from_own(points, bones, own)
    np.testing.assert_allclose(found, brute[np.arange(20), own], atol=1e-5)
    np.testing.assert_array_equal(module.nearest_bones(points, bones), brute.argmin(1))


def test_has_skin():
    """The third bone moves nothing, with skin near it and without."""
    bones = skeleton(*TWO)
    points = np.array([[0.05, 0, 0.5], [0.05, 0, 1.6], *4 * [[0.6, 0, 0.5]]])
    dense = np.array([[1.0, 0, 0], [0.2, 0.8, 0], *4 * [[1.0, 0, 0]]])
    has_skin = core("skeleton.bone_distances").has_skin
    assert has_skin(points, sparse_of(dense), bones, [2]).tolist() == [True]
    assert has_skin(points[:5], sparse_of(dense[:5]), bones, [2]).tolist() == [False]
    assert has_skin(points, sparse_of(0 * dense), bones, [2]).tolist() == [False]


def test_has_skin_looks_at_all_that_is_near(rng, monkeypatch):
    """The same vertices as with the distances of all vertices from all bones."""
    module, bones = core("skeleton.bone_distances"), skeleton(*TWO)
    points = rng.uniform(-0.7, 2.4, (400, 3)) * (0.3, 0.3, 1)
    dense = np.eye(3)[rng.integers(0, 3, 400)]
    away = module.distances_from_own(points[:, None], bones, np.arange(3))
    near = (away < module.NEARER * away[np.arange(400), dense.argmax(1)][:, None]).sum(0)
    assert (near > module.LEAST).all()
    for most in np.concatenate([near - 0.5, near + 0.5]):
        monkeypatch.setattr(module, "LEAST_SHARE", most / 400)
        found = module.has_skin(points, sparse_of(dense), bones, range(3))
        np.testing.assert_array_equal(found, near > most)


QUIET = {
    **dict.fromkeys(("control_bones", "deformers", "volume", "taken_as_one", "posed_by")),
    **dict.fromkeys(("collapsed_triangles", "triangles", "far_vertices", "above_limit"), 0),
    "rigid_parts": 0, "found_rigid_parts": 0, "unseen_parts": [], "far_from_bones": [],
    "options": {}, "vertices": 9, "deformation": {"after": {"surface_strain": 0.1}},
}  # fmt: skip


@pytest.mark.parametrize(
    ("idle", "in_skin", "note", "warning"),
    [
        ([], [], None, None),
        (["end"], [], "1 deform bone has no skin of its own: end", None),
        (
            ["end", "arm"],
            ["arm"],
            "1 deform bone has no skin of its own: end",
            "there is skin nearby",
        ),
        (["a", "b"], [], "2 deform bones have no skin of their own: a, b", None),
    ],
)
def test_bones_without_skin_in_words(idle, in_skin, note, warning):
    report = core("reports.report")
    told = QUIET | {"control_bones": {}, "idle_bones": idle, "idle_in_skin": in_skin}
    assert report.notes(told) == ([note] if note else [])
    found = report.warnings(told)
    assert len(found) == bool(warning) and all(warning in line for line in found)


def test_wrong_linear_algebra_in_words():
    report = core("reports.report")
    told = QUIET | {"control_bones": {}, "idle_bones": [], "idle_in_skin": []}
    assert report.warnings(told | {"linear_algebra": "plain loops"}) == [report.SLOW]
    assert report.warnings(told | {"linear_algebra": "OpenBLAS"}) == []
