"""The cases in which the Result states that the weights are probably unusable, the reasons, and
possible remedies."""

import numpy as np
import pytest
import shapes
from araplbs.character.control_bones import REASONS
from araplbs.character.mesh import Mesh
from araplbs.character.pose_sets import pose_set
from araplbs.character.problem import Problem
from araplbs.model.options import Options
from araplbs.model.sparse_weights import sparse_of
from araplbs.reports.doubts import (
    BONES,
    CONTROL,
    HELD_AT_A_PRICE,
    IN_VAIN,
    JOINTS,
    MUCH,
    MUCH_ASIDE,
    OF_BONES,
    PARENT,
    TAILS,
    UNRESPONSIVE,
    bone_at_joint,
    doubt_about,
    torn_off,
)
from araplbs.reports.notes import PLACE, REPAIR, RIGID, SOFT, UNLOCK, result_notes
from araplbs.reports.stretched import stretched
from araplbs.skeleton.skeleton import Skeleton


def report(stretch, **changed):
    return {
        "deformation": {"after": {"surface_strain": stretch}},
        "options": {"swing": 1.0472, "max_influences": 4},
        "tails_aside": False,
        "control_bones": {},
        "idle_in_skin": [],
        "far_from_bones": [],
        "unseen_parts": [],
        "rigid": [],
        "above_limit": 0,
    } | changed


@pytest.mark.parametrize("stretch", [None, 0.0, 0.3, 0.52, MUCH])
def test_nothing_is_said_of_what_good_weights_reach(stretch):
    assert doubt_about(report(stretch)) is None
    assert not [note for note in result_notes(report(stretch)) if note.urgent]


def test_wider_poses_stretch_more():
    wide = report(0.9, options={"swing": 1.5, "max_influences": 4})
    assert doubt_about(wide) is None


def test_tails_that_miss_the_joints():
    """Tails that miss the joints are reported at a lower stretch, because good weights have little
    stretch even if bones point aside."""
    assert doubt_about(report(MUCH_ASIDE, tails_aside=True)) is None
    doubt = doubt_about(report(0.4, tails_aside=True, control_bones={"a": "TWIN"}))
    assert doubt.remedy == JOINTS and "40 %" in doubt.line and "Joints" in doubt.line
    (note,) = [n for n in result_notes(report(0.4, tails_aside=True)) if n.urgent]
    assert note.remedy == JOINTS and note.text == "High stretch: tails miss the joints"
    assert not note.selects


def test_bones_read_from_their_joints():
    doubt = doubt_about(report(0.9, bone_directions="JOINTS"))
    assert doubt.remedy == TAILS and "Tails" in doubt.line
    assert doubt_about(report(MUCH, bone_directions="JOINTS")) is None


def torn_gun():
    """A limb with a box next to it, a skeleton with a bone that its parent tears off, and weights
    that tear either the box or the limb at this bone."""
    limb, box = shapes.tube(12, 17, 0.2, 2.0), shapes.box((0.3, 0.3, 0.3), (0.6, 0, 1))
    vertices, triangles = shapes.join(limb, box)
    heads = np.array([[0, 0, z] for z in (0, 0.5, 1.0, 1.5)])
    names = ["hips", "chest", "neck", "head"]
    parents = [-1, 0, 1, 0]
    skeleton = Skeleton.from_joints(
        heads, parents, tails=heads + np.array([0, 0, 0.5]), names=names
    )
    mesh = Mesh("Gun", vertices, triangles, np.zeros((0, 2), int), np.eye(4))
    own = np.clip((vertices[:, 2] // 0.5).astype(int), 0, 3)
    own[len(limb[0]) :] = 1
    weights = np.eye(4)[own]
    in_gun = weights.copy()
    in_gun[len(limb[0]) :] = np.eye(4)[[0, 3] * 4]
    in_gun[: len(limb[0])] = np.eye(4)[0]
    return Problem([mesh], skeleton), weights, in_gun


def test_stretch_is_blamed_on_what_stretches():
    """A bone with the wrong parent is named only if the stretch is at its seam, and a torn part is
    named as that."""
    problem, in_limb, in_gun = torn_gun()
    poses = pose_set(problem, Options(pose_count=8))
    assert torn_off(problem.skeleton) == [3]
    found = [stretched(problem, sparse_of(rows), poses, [3]) for rows in (in_limb, in_gun)]
    assert found[0] == {"parts": [], "torn_off": [3]}
    first = len(problem.arguments["vertices"]) - 8
    assert [part >= first for part in found[1]["parts"]] == [True] and not found[1]["torn_off"]
    part = {"object": "Gun", "vertex": first}
    at = {"torn_off": ["head"], "stretched": {"parts": [part], "torn_off": []}}
    doubt = doubt_about(report(2.28, **at))
    assert doubt.note == "High stretch: 1 loose part stretches" and doubt.remedy == RIGID
    assert "228 %" in doubt.line and "parent" not in doubt.line
    (note,) = [each for each in result_notes(report(2.28, **at)) if each.urgent]
    assert note.places == (("Gun", first),) and note.remedy == RIGID and note.selects
    elsewhere = {"torn_off": ["head"], "stretched": {"parts": [], "torn_off": []}}
    assert doubt_about(report(2.28, **elsewhere)).note == "High stretch: check the joints"
    several = {**at, "torn_off": ["head", "foot"]}
    assert doubt_about(report(0.9, **several)), "parents are no excuse for torn parts"


def test_every_note_says_why_and_what_mends_it():
    part = {"object": "Body", "vertex": 7, "size": 3}
    full = report(
        0.2,
        idle_in_skin=["lip"],
        far_from_bones=[{"object": "Coat", "all": False, "count": 3, "vertex": 5}],
        unseen_parts=[{**part, "rigid": True}, {**part, "rigid": False}],
        rigid=[{**part, "bone": "hand"}],
        above_limit=22,
        control_bones={"root": "ROOT", "prop": "APART"},
        bone_directions="JOINTS",
    )
    notes = result_notes(
        full, 1, ["arm"], [("Hat", 3)], ["prop", "leg"], reaching=[("arm", "rib"), ("hand", "rib")]
    )
    (reach,) = (note for note in notes if note.bones == ("rib",))
    assert reach.urgent and reach.text == "1 bone has lost skin to another limb: rib"
    assert reach.why == "Now moved by arm, hand" and reach.remedy == "GIVE_BACK"
    (over,) = result_notes(report(0.2), over=[("arm", "rib"), ("leg", "rib")])
    assert over.text == "2 bones move skin of another limb: arm, leg" and over.urgent
    assert over.why == "The skin belongs to rib" and over.remedy == REPAIR
    assert len(notes) == 14 and all(note.why for note in notes)
    cured = [note.remedy for note in notes if note.remedy]
    assert {PLACE, REPAIR, RIGID, SOFT, UNLOCK, TAILS, CONTROL, "GIVE_BACK"} == set(cured)
    (alone, listed) = (note for note in notes if not note.remedy)
    assert alone.selects and alone.text == "1 part on one bone", "nothing is wrong"
    assert listed.control, "the list takes them in"
    by_tails = result_notes(full | {"bone_directions": "TAILS"}, 0, ["arm"])
    assert [n.remedy for n in by_tails if n.bones] == [JOINTS, JOINTS]


def test_the_bone_at_a_joint():
    assert bone_at_joint(leg(4), 3) == bone_at_joint(leg(-1), 3) == 2
    assert bone_at_joint(leg(2), 0) is None, "all others hang on it"


def leg(foot_on):
    """Hips, thigh, shin, and a foot that is a child of the shin (2) or of a root (4), or has no
    parent."""
    heads = np.array([(0, 0, 1), (0.1, 0, 1), (0.1, 0, 0.5), (0.1, 0, 0.1), (0, 0.4, 0)], float)
    tails = np.array(
        [(0, 0, 1.5), (0.1, 0, 0.5), (0.1, 0, 0.1), (0.1, -0.2, 0), (0, 0.6, 0)], float
    )
    parents = np.array([4, 0, 1, foot_on, -1])
    names, deform = ["hips", "thigh", "shin", "foot", "root"], [True] * 4 + [False]
    return Skeleton.from_joints(heads, parents, tails=tails, names=names, deform=deform)


def test_feet_that_random_poses_tear_off():
    assert torn_off(leg(2)) == []
    assert torn_off(leg(4)) == torn_off(leg(-1)) == [3]
    feet = ["foot.L", "foot.R"]
    assert doubt_about(report(1.2, torn_off=feet)) is None
    assert doubt_about(report(2.0, torn_off=feet)) and doubt_about(report(1.2, torn_off=feet[:1]))
    assert doubt_about(report(0.9, torn_off=feet, tails_aside=True)).remedy == JOINTS


def test_bones_that_hang_elsewhere_are_the_likeliest_cause():
    """One skin has two trees of bones, and the second tree begins at the end of the first."""
    doubt = doubt_about(report(2.0, torn_off=["second"], control_bones={"hand": "TWIN"}))
    assert doubt.remedy == PARENT and doubt.bones == ("second",)
    assert "1 bone is parented" in doubt.note and "second" in doubt.line
    doubt = doubt_about(report(2.0, torn_off=["foot.L", "foot.R"]))
    assert "2 bones are parented" in doubt.note and "foot.L, foot.R" in doubt.line


@pytest.mark.parametrize("cost", [0.0, 0.0178, HELD_AT_A_PRICE])
def test_bones_that_are_held_for_little(cost):
    assert doubt_about(report(0.1, held_cost=cost, held_bones=["eye", "jaw"])) is None


def test_bones_that_are_held_at_a_price():
    """Such bones are reported for all poses; stretch alone is reported only if it is large."""
    held = {"held_cost": 0.045, "held_bones": ["eye"]}
    doubt = doubt_about(report(0.1, **held))
    assert doubt.remedy == BONES and doubt.bones == ("eye",) and "eye" in doubt.line
    assert doubt.note == "1 bone shares skin with others"
    first = result_notes(report(0.1, **held))[0]
    assert first.urgent and first.selects and first.bones == ("eye",)
    for other in (report(None, **held), report(0.9, **held, options={"swing": 1.5})):
        other["options"]["max_influences"] = 4
        assert doubt_about(other) == doubt
    assert "High stretch" in doubt_about(report(0.9, **held)).note


def test_bones_that_are_held_in_vain():
    """If held bones still hardly move their skin, a lower cost is reported, and only these bones
    are named."""
    held = {"held_bones": ["track.1", "track.2"], "deaf_bones": ["track.2", "hair"]}
    assert doubt_about(report(0.1, held_cost=0.02, **held)).bones == ("track.2",)
    assert doubt_about(report(0.1, held_cost=IN_VAIN, **held)) is None
    answering = held | {"deaf_bones": ["hair"]}
    assert doubt_about(report(0.1, held_cost=0.02, **answering)) is None


def test_vertebrae_share_the_skin_of_one_piece():
    """Held vertebrae are not reported, as in a good dog, whose 11 held bones cost 19 % of the
    energy."""
    held = {"held_cost": 0.19, "held_bones": ["L_1", "L_2"], "deaf_bones": ["L_2"]}
    assert doubt_about(report(0.1, **held, parts=1)) is None
    assert doubt_about(report(0.1, **held, parts=2)).bones == ("L_1", "L_2")


def test_many_bones_that_hardly_move_their_skin():
    """Three such bones are not reported, as in a good bee of boxes. Bones held at a high cost, and
    strong stretch, are reported first."""
    deaf = [f"palm.{number}" for number in range(6)]
    few = {"deaf_bones": deaf[: UNRESPONSIVE - 1], "deforming_bones": 9}
    assert doubt_about(report(0.1, **few)) is None
    rare = {"deaf_bones": deaf, "deforming_bones": int(len(deaf) / OF_BONES) + 1}
    assert doubt_about(report(0.1, **rare)) is None
    many = {"deaf_bones": deaf, "deforming_bones": 44}
    doubt = doubt_about(report(0.1, **many))
    assert doubt.remedy == BONES and doubt.bones == tuple(deaf) and "palm.0" in doubt.line
    assert doubt.note == "6 of 44 bones hardly move their skin"
    first = result_notes(report(0.1, **many))[0]
    assert first.urgent and first.selects and first.bones == tuple(deaf)
    held = doubt_about(report(0.1, **many, held_cost=0.045, held_bones=["eye"]))
    assert held.bones == ("eye",) and "High stretch" in doubt_about(report(0.9, **many)).note


def test_bones_that_were_left_out():
    words = {identifier: each for identifier, _name, each in REASONS}
    left = {"root": words["ROOT"], "leaf": words["LEAF"], "far": "OUTSIDE"}  # as in old reports
    assert doubt_about(report(0.8, control_bones=left)).remedy == ""
    doubt = doubt_about(report(0.8, control_bones={**left, "hand": "TWIN"}))
    assert doubt.remedy == CONTROL and "1 bone was" in doubt.note and "Include" in doubt.line
    doubt = doubt_about(report(0.8, control_bones={"hand": "TWIN", "head": "SERVED"}))
    assert "2 bones were" in doubt.line


def test_bones_that_move_nothing_are_shown():
    doubt = doubt_about(report(0.8, idle_in_skin=["neck", "head"]))
    assert doubt.remedy == BONES and doubt.bones == ("neck", "head")
    first = result_notes(report(0.8, idle_in_skin=["neck", "head"]))[0]
    assert first.urgent and first.selects and first.bones == ("neck", "head")
    assert first.remedy == PLACE, "better places for the joints"


def test_else_the_joints_are_looked_at():
    doubt = doubt_about(report(2.86))
    assert doubt.remedy == "" and "286 %" in doubt.line and "joint" in doubt.line
