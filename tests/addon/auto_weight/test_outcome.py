"""The Result box after weighting: its text, its notes, and the stored sets of weights."""

import bpy
import flaws
import numpy as np
import pytest
from flaws import weighted
from rows_of import Rows
from scenes import (
    add_cube,
    add_tube,
    addon,
    assert_good,
    auto_weight,
    bind,
    choose_bones,
    entries,
    package,
    select,
    tube_and_rig,
    weights,
)


@pytest.fixture(autouse=True)
def in_a_window(monkeypatch):
    """Runs the code as if a window were open."""
    monkeypatch.setattr(addon("features.auto_weight.operator"), "is_seen", lambda: True)


def at_hand():
    return addon("features.auto_weight.outcome").outcome_at_hand(bpy.context)


def shown(which):
    return bpy.ops.object.araplbs_show_weights(which=which)


def test_nothing_before():
    """Without earlier weights, there is nothing to compare with and nothing to restore."""
    weighted()
    facts = at_hand().facts
    assert facts["problems"][0] is None and facts["stretch"][0] is None
    assert 0 < facts["stretch"][1] < 1 and 0 < facts["heat"] < 1, "to compare with"
    assert not at_hand().slots["BEFORE"]
    with pytest.raises(RuntimeError, match="had no weights before"):
        shown("BEFORE")


def test_more_stretch_for_limbs_that_follow():
    """Whether weights are worse depends on both measures, and then both are shown."""
    weighted()
    auto_weight(bone_spring_stiffness=1)
    outcome = at_hand()
    outcome.facts = {"problems": (1, 1), "stretch": (0.2, 0.25), "drift": (0.3, 0.1)}
    assert not outcome.verdict and "Limbdrift" in drawn(outcome)
    outcome.facts["drift"] = (0.1, 0.1)
    assert outcome.verdict and "Limbdrift" not in drawn(outcome)
    outcome.facts = {"problems": (1, 1), "stretch": (0.2, 0.1), "drift": (0.1, 0.1), "lost": [2]}
    assert outcome.verdict, "a bone has lost its skin"


def test_bones_that_were_left_out_and_had_skin():
    """Such bones are not plain control bones. The artist gave them skin, which still follows
    them."""
    result_notes = package("reports.notes").result_notes
    notes = result_notes(REPORT, 0, (), (), (), ["pole"])
    (note,) = [each for each in notes if each.bones == ("pole",)]
    assert str(note.text) == "1 left-out bone had skin: pole" and note.remedy == "CONTROL"
    assert note.why and not note.urgent
    assert "1 control bone left out" in [str(each.text) for each in notes], "the root alone"


def drawn(outcome):
    """The drawn words, without the spaces at which they are wrapped."""
    layout = Rows()
    addon("panels.result_box")._draw_gains(bpy.context, layout, outcome)
    return "".join(map(str, layout.words)).replace(" ", "")


def test_compared_with_what_was_there(capfd):
    """The numbers equal the results of the measures and of Check Weights for both sets of
    weights."""
    tube, rig = tube_and_rig()
    for name, low in (("lower", 0), ("middle", 1), ("upper", 2)):
        z = np.array([v.co.z for v in tube.data.vertices])
        own = np.flatnonzero((z >= low) & (z < low + 1 + (name == "upper")))
        tube.vertex_groups.new(name=name).add(own.tolist(), 1.0, "REPLACE")
    select(tube, rig)
    bpy.ops.object.araplbs_check()
    visible = package("features.check.before_after").visible
    before = visible(flaws.found().findings)
    capfd.readouterr()
    auto_weight()
    last = capfd.readouterr().out.strip().splitlines()[-1]
    bpy.ops.object.araplbs_check()
    after = visible(flaws.found().findings)
    facts = at_hand().facts
    assert "heat" not in facts
    assert facts["problems"] == (before, after) and after < before
    first, second = facts["stretch"]
    assert second < first
    assert f"{before} -> {after} visible problems, stretch {100 * first:.1f} -> " in last
    auto_weight()
    first, second = at_hand().facts["stretch"]
    assert first == pytest.approx(second, rel=1e-4), "the weights before are the same"


LONG = "A name as long as Blender lets anybody make the name of a thing"
STRAINS = {when: {"surface_strain": 0.999} for when in ("before", "after")}
COUNTS = {"name": LONG, "vertices": 1234567, "bones": 1234, "seconds": 123.4}
COUNTS |= {f"error_{when}": {"rms": 0.5} for when in STRAINS}
MOVED = {"moved_bones": [LONG] * 1000, "largest_move": 0.5}


@pytest.mark.parametrize(
    ("line", "arguments"),
    [
        ("result_line", [COUNTS, {"problems": (123, 123), "stretch": (0.999, 0.999)}, 12]),
        ("new_line", [COUNTS | {"new_vertices": 1234567, "deformation": STRAINS}]),
        ("joint_line", [COUNTS | MOVED | {"deformation": STRAINS}]),
        ("transfer_line", [{"objects": [COUNTS | {"matched": 1234567}], "sources": [LONG]}]),
        ("bake_line", [{"objects": [COUNTS]}]),
    ],
)
def test_last_lines_fit(line, arguments):
    """A status bar of 1280 pixels has space for this many letters."""
    lines = package("reports.last_lines")
    assert 20 < len(getattr(lines, line)(*arguments)) <= lines.MOST_LETTERS


def test_last_line_of_weights():
    result_line = package("reports.last_lines").result_line
    report = {"vertices": 13380, "seconds": 1.23}
    facts = {"problems": (13, 2), "stretch": (0.2734, 0.2016)}
    assert result_line(report, facts, 2) == (
        "Weighted 13,380 vertices in 1.2 s: 13 -> 2 visible problems, stretch 27.3 -> 20.2 %. "
        "2 notes"
    )
    facts = {"problems": (None, 2), "stretch": (None, None)}
    assert result_line(report, facts) == "Weighted 13,380 vertices in 1.2 s: 2 visible problems"
    facts = {"problems": (2, 1), "stretch": (None, None)}
    line = "Weighted 13,380 vertices in 3.4 s: 2 -> 1 visible problem"
    assert result_line(report | {"waited": 3.44}, facts) == line


def test_before_and_after():
    tube, rig = weighted(bone_spring_stiffness=50)
    before = entries(tube)
    auto_weight(bone_spring_stiffness=1)
    after = entries(tube)
    assert before != after and at_hand().shown() == "AFTER"
    shown("BEFORE")
    assert entries(tube) == before and at_hand().shown() == "BEFORE"
    shown("BEFORE")
    shown("AFTER")
    assert entries(tube) == after
    assert_good(tube, rig)


def test_the_first_weights_stay_at_hand():
    """Original restores the weights from before the first press, however often the button is
    pressed."""
    tube, _rig = weighted(bone_spring_stiffness=50)
    tube.data.araplbs.made = ""  # as if an artist had painted them
    artist = entries(tube)
    auto_weight(bone_spring_stiffness=1)
    assert not at_hand().slots["ORIGINAL"], "Before is the same"
    with pytest.raises(RuntimeError, match="earlier weights are the original ones"):
        shown("ORIGINAL")
    first = entries(tube)
    auto_weight(bone_spring_stiffness=10)
    auto_weight(bone_spring_stiffness=20)
    assert entries(tube) != first
    shown("ORIGINAL")
    assert entries(tube) == artist and at_hand().shown() == "ORIGINAL"
    shown("AFTER")
    shown("BEFORE")
    assert entries(tube) not in (artist, first)


def test_files_hold_the_new_weights(tmp_path):
    """Saving while Before is shown loses nothing. The file contains the new weights."""
    tube, _rig = weighted(bone_spring_stiffness=50)
    before = entries(tube)
    auto_weight(bone_spring_stiffness=1)
    after = entries(tube)
    shown("BEFORE")
    path = str(tmp_path / "saved.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
    assert entries(tube) == before and at_hand().shown() == "BEFORE"
    name = tube.name
    bpy.ops.wm.open_mainfile(filepath=path)
    assert entries(bpy.data.objects[name]) == after


@pytest.mark.parametrize("which", ["SHOWN", "BEFORE"])
def test_old_weights_can_be_kept(which, tmp_path):
    tube, _rig = weighted(bone_spring_stiffness=50)
    before = entries(tube)
    auto_weight(bone_spring_stiffness=1)
    if which == "SHOWN":
        shown("BEFORE")
    bpy.ops.object.araplbs_keep_shown_weights(which=which)
    assert entries(tube) == before and at_hand() is None
    path, name = str(tmp_path / "saved.blend"), tube.name
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
    bpy.ops.wm.open_mainfile(filepath=path)
    assert entries(bpy.data.objects[name]) == before


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"problems": (3, 2), "stretch": (0.3, 0.2), "actions": (0.3, 0.2), "lost": [1]}, None),
        ({"problems": (3, 2), "stretch": (0.3, 0.2), "lost": [1]}, None),
        (
            {"problems": (3, 2), "stretch": (0.2, 0.2), "lost": [1]},
            "Worse: 1 bone lost its skin, b",
        ),
        (
            {"problems": (3, 2), "stretch": (0.3, 0.2), "lost": [0, 1]},
            "Worse: 2 bones lost their skin, a, b",
        ),
        ({"problems": (3, 5), "stretch": (0.3, 0.2)}, "Worse: 2 more visible problems"),
        (
            {"problems": (3, 4), "stretch": (0.2, 0.3), "actions": (0.2, 0.3)},
            "Worse: 1 more visible problem; more stretch in poses; more stretch in actions",
        ),
        ({"problems": (None, 5), "stretch": (None, 0.3)}, None),
    ],
)
def test_verdict_says_why(facts, words):
    """Among more measures that have become better, a lost bone does not decide."""
    assert package("reports.last_lines").verdict(facts, ["a", "b"]) == words


def test_worse_is_said():
    is_worse = package("measures.standing").is_worse
    assert is_worse(0.375, 0.447) and is_worse(0, 1) and is_worse(13, 14)
    assert not any(is_worse(*b) for b in [(0.3, 0.3001), (None, 5), (5, None), (5, 5), (5, 4)])
    weighted(bone_spring_stiffness=50)
    auto_weight(bone_spring_stiffness=1)
    outcome = at_hand()
    outcome.facts = {"problems": (2, 1), "stretch": (0.2, 0.3)}
    assert outcome.verdict
    outcome.facts = {"stretch": (0.2, 0.2)}
    assert not outcome.verdict


def reduce_bones():
    bpy.ops.object.araplbs_reduce_bones(count=2)


def quantize():
    bpy.ops.object.araplbs_quantize()


def move_joint():
    rig = bpy.context.active_object
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones["middle"].head.x += 0.1
    bpy.ops.object.mode_set(mode="OBJECT")


def stop_deforming():
    bpy.context.active_object.data.bones["upper"].use_deform = False


def optimize_joints():
    bpy.ops.object.araplbs_joints()


def transfer():
    """Transfers other weights from a mesh worn below."""
    tube, rig = bpy.data.objects["Tube"], bpy.data.objects["Rig"]
    body = add_tube("Body", radius=0.25)
    bind(body, rig)
    for name in ("lower", "middle", "upper"):
        body.vertex_groups.new(name=name).add(range(len(body.data.vertices)), 1 / 3, "REPLACE")
    select(tube, body, active=body)
    bpy.ops.object.araplbs_transfer()
    select(tube, rig)


def move_vertices():
    tube = bpy.data.objects["Tube"]
    for vertex in tube.data.vertices:
        vertex.co.z *= 1.1
    tube.data.update_tag()
    bpy.context.view_layer.update()


def add_vertex():
    bpy.data.objects["Tube"].data.vertices.add(1)


CHANGES = (
    *(reduce_bones, quantize, move_joint, stop_deforming, optimize_joints, transfer),
    *(move_vertices, add_vertex),
)


@pytest.mark.parametrize("change", CHANGES)
def test_the_box_goes_with_what_it_tells_of(change):
    """The box disappears when other tools write weights, or when bones are gone and Before would
    tear the mesh."""
    weighted(bone_spring_stiffness=50)
    auto_weight(bone_spring_stiffness=1)
    assert at_hand()
    change()
    assert at_hand() is None
    with pytest.raises(RuntimeError, match="Auto-weight first"):
        shown("BEFORE")


def test_the_box_of_what_is_selected():
    """After an import, an Empty is active and the meshes are selected."""
    tube, rig = weighted()
    empty = bpy.data.objects.new("Root", None)
    bpy.context.scene.collection.objects.link(empty)
    select(tube, rig, empty)
    bpy.context.view_layer.objects.active = empty
    assert at_hand()
    select(empty)
    bpy.context.view_layer.objects.active = empty
    assert at_hand() is None


def test_what_is_painted_meanwhile_is_kept():
    tube, _rig = weighted(bone_spring_stiffness=50)
    auto_weight(bone_spring_stiffness=1)
    tube.vertex_groups["upper"].add([3], 0.75, "REPLACE")
    painted = entries(tube)
    shown("BEFORE")
    assert entries(tube) != painted
    shown("AFTER")
    assert entries(tube) == painted


def test_the_box_follows_undo_and_what_is_active():
    """Meshes store a mark of the displayed result, which undo restores together with the
    weights."""
    tube, rig = weighted()
    first, mark = at_hand(), tube.data.araplbs.weighting
    auto_weight(bone_spring_stiffness=1)
    assert at_hand() is not first
    tube.data.araplbs.weighting = mark
    assert at_hand() is first
    tube.data.araplbs.weighting = ""
    assert at_hand() is None
    tube.data.araplbs.weighting = mark
    select(rig)
    assert at_hand() is first
    other = add_cube("Other", (5, 5, 5))
    select(other)
    assert at_hand() is None


def test_notes_select_bones():
    select_bones = addon("blender.write.select_bones").select_bones
    _tube, rig = weighted()
    select(rig)
    select_bones(bpy.context, rig, ["middle"])
    assert bpy.context.mode == "POSE"
    assert addon("blender.data.bones").selected_bones(rig) == ["middle"]
    assert rig.data.bones.active.name == "middle"
    bpy.ops.object.mode_set(mode="EDIT")
    with pytest.raises(package("base.refusal").Refused, match="'Rig' is in Edit mode"):
        select_bones(bpy.context, rig, ["middle"])
    bpy.ops.object.mode_set(mode="OBJECT")
    rig.hide_set(True)
    with pytest.raises(package("base.refusal").Refused, match="'Rig' is hidden"):
        select_bones(bpy.context, rig, ["middle"])


REPORT = {
    "deformation": {"after": {"surface_strain": 0.2}},
    "idle_in_skin": ["head_leaf", "Thumb.End_L", "lip.L"],
    "far_from_bones": [{"object": "Coat", "all": False, "count": 3, "vertex": 5}],
    "unseen_parts": [
        {"object": "Body", "vertex": 7, "size": 3, "rigid": True},
        {"object": "Body", "vertex": 9, "size": 3, "rigid": False},
    ],
    "rigid": [{"object": "Sword", "vertex": 0, "size": 8, "bone": "hand"}],
    "above_limit": 22,
    "control_bones": {"root": "ROOT", "pole": "APART"},
    "options": {"max_influences": 4},
}


def test_notes_of_a_report():
    """The ends of chains need no skin, however an importer names them. Urgent notes come first."""
    notes = package("reports.notes").result_notes(REPORT)
    assert [(note.text, note.urgent) for note in notes] == [
        ("1 bone without skin: lip.L", True),
        ("3 vertices far from all bones", True),
        ("1 part beyond all bones", True),
        ("22 vertices have more than 4: locked groups", True),
        ("1 part on one bone", False),
        ("2 control bones left out", False),
        ("1 rigid part", False),
    ]
    assert notes[0].bones == ("lip.L",) and notes[5].control and not notes[5].selects
    assert notes[1].places == (("Coat", 5),) and notes[3].above == 4


def test_tips_are_not_said_to_move_bones():
    """A tip of a finger marks an end; every note of the box begins with a capital or a number."""
    result_notes = package("reports.notes").result_notes
    report = REPORT | {"chain_ends": ["pole"], "bone_directions": "LENGTHS"}
    notes = {str(note.text): str(note.why) for note in result_notes(report, 2, ["arm"])}
    assert notes["1 control bone left out"] == "Moves bones, not skin"
    assert notes["1 chain end left out"] == "Marks an end, moves no skin"
    assert "Lengths of bones corrected" in notes
    assert not [text for text in (*notes, *notes.values()) if text[:1].islower()]


def test_vertices_above_a_limit():
    tube, _rig = weighted()
    for name in ("lower", "middle", "upper"):
        tube.vertex_groups[name].add([8], 0.3, "REPLACE")
    above = addon("features.auto_weight.result").vertices_above
    assert above(tube, 2, ["lower", "middle", "upper"]).tolist() == [8]
    assert above(tube, 2, ["lower", "middle"]).tolist() == []


def test_bones_that_were_free():
    tube, rig = weighted()
    select(rig)
    bpy.ops.object.mode_set(mode="POSE")
    choose_bones(rig, "middle")
    before = weights(tube, ["upper"])
    auto_weight(only_selected_bones=True, bone_spring_stiffness=1)
    assert at_hand().chosen == (1, 3)
    np.testing.assert_array_equal(weights(tube, ["upper"]), before)
    auto_weight(bone_spring_stiffness=1)
    assert at_hand().chosen is None
