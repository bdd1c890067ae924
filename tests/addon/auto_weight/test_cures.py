"""The cures that the Result box and Check and Repair offer: each button is found by drawing
the panel, is pressed with the options that it has there, and keeps its promise."""

from types import SimpleNamespace

import bpy
import flaws
import numpy as np
import pytest
from patience import wait_until
from scenes import (
    add_armature,
    add_cube,
    add_tube,
    addon,
    auto_weight,
    entries,
    package,
    select,
)
from test_outcome import at_hand, in_a_window, weighted  # noqa: F401


class Buttons:
    """Notes the buttons that are drawn into it."""

    def __init__(self, found=None):
        self.__dict__["found"] = [] if found is None else found

    def __setattr__(self, _name, _value):
        """alert, scale_y..."""

    def __getattr__(self, _name):
        return lambda *_arguments, **_options: Buttons(self.found)

    def operator(self, idname, text=None, **_options):
        button = SimpleNamespace()
        self.found.append((idname, text, button))
        return button


def of_result():
    outcome, layout = at_hand(), Buttons()
    outcome.to_draw = None  # no pictures
    addon("ui.result_box").draw_result(layout, bpy.context, outcome)
    return layout.found


def of_finding(kind):
    """The buttons below the list of Check and Repair for the first finding of a kind."""
    layout, panel = Buttons(), addon("ui.check_panel").VIEW3D_PT_araplbs_check
    panel._draw_words(panel, bpy.context, layout, flaws.choose(kind))
    return layout.found


def press(buttons, text, number=0):
    pressed = [each for each in buttons if each[1] == text][number]
    idname, _text, button = pressed
    call = getattr(bpy.ops.object, idname.removeprefix("object."))
    assert call(**vars(button)) == {"FINISHED"}


def texts(buttons):
    return [text for _idname, text, _button in buttons]


def test_repair():
    tube, rig = weighted(bone_spring_stiffness=50)
    auto_weight(bone_spring_stiffness=1)
    flaws.stretch(tube, rig)
    flawed = entries(tube)
    select(tube, rig)
    flaws.check()
    outcome = at_hand()
    outcome.findings = list(flaws.found().findings)
    outcome.facts["problems"] = (0, len(outcome.findings))
    press(of_result(), "Repair")
    assert entries(tube) != flawed and outcome.facts["problems"] == (0, 0)
    assert "Repair" not in texts(of_result()), "nothing is left to repair"


def test_keep_old():
    tube, _rig = weighted(bone_spring_stiffness=0)
    before = entries(tube)
    assert "Keep Old" not in texts(of_result())
    auto_weight(bone_spring_stiffness=300, initial="NEAREST")
    assert at_hand().worse and entries(tube) != before
    press(of_result(), "Keep Old")
    assert entries(tube) == before and at_hand() is None


def test_include_a_bone_that_was_left_out():
    bones = [
        ("lower", (0, 0, 0.05), (0, 0, 1.0), None),
        ("middle", (0, 0, 1.0), (0, 0, 2.0), "lower"),
        ("upper", (0, 0, 2.0), (0, 0, 2.95), "middle"),
        ("upper_target", (0, 0, 2.0), (0.1, 0, 2.9), None),
    ]
    tube, rig = add_tube(), add_armature(bones=bones)
    auto_weight(tube, rig)
    assert not held(tube, "upper_target")
    report = addon("window.last_report").report_of(bpy.context.scene)
    at_hand().notes = package("reports.notes").result_notes(report, lost=["upper_target"])
    note = at_hand().notes[0]
    assert str(note.text) == "1 left-out bone has lost its skin: upper_target"
    press(of_result(), "Include")
    assert held(tube, "upper_target") and "Include" not in texts(of_result())


def held(tube, name):
    """How many vertices a group has."""
    index = tube.vertex_groups[name].index if name in tube.vertex_groups else -1
    return sum(
        any(g.group == index and g.weight > 0.1 for g in v.groups) for v in tube.data.vertices
    )


def lost_skin():
    """(tube, rig, entries before): a bone that hangs elsewhere, which the artist has given skin."""
    tube, rig = flaws.skin_of_another_bone()
    before = entries(tube)
    select(tube, rig)
    auto_weight()
    assert "1 bone has lost its skin: prop" in notes() and at_hand().worse
    return tube, rig, before


def notes():
    return [str(note.text) for note in at_hand().notes]


def test_keep_old_where_a_bone_has_lost_its_skin():
    """Named, and one click back."""
    tube, _rig, before = lost_skin()
    press(of_result(), "Keep Old")
    assert entries(tube) == before


def test_give_a_bone_its_skin_back():
    """The earlier weights there, the new ones elsewhere; the box goes on with what is now."""
    tube, _rig, before = lost_skin()
    new, outcome = entries(tube), at_hand()
    press(of_result(), "Give Back")
    now, skin = entries(tube), [k for k, v in enumerate(tube.data.vertices) if v.co.z > 1.99]
    assert [now[k] for k in skin] == [before[k] for k in skin]
    others = [k for k in range(len(now)) if k not in skin]
    assert [now[k] for k in others] == [new[k] for k in others]
    assert at_hand() is outcome and not any("lost" in text for text in notes())
    assert "Give Back" not in texts(of_result())
    counting = addon("features.auto_weight.counting")
    wait_until(lambda: counting.look() is None, lambda: "still counting")
    assert outcome.facts["lost"] == [] and outcome.facts["stretch"][1] > 0
    assert outcome.findings is not None and outcome.facts["problems"][1] >= 0
    outcome.show("BEFORE")
    assert entries(tube) == before
    outcome.show("AFTER")
    assert entries(tube) == now
    with pytest.raises(RuntimeError, match="No bone has lost its skin"):
        bpy.ops.object.araplbs_give_back()


def test_locked_groups_stay_when_skin_is_given_back():
    tube, _rig, _before = lost_skin()
    tube.vertex_groups["lower"].lock_weight = True
    lower = [dict(row).get(tube.vertex_groups["lower"].index, 0) for row in entries(tube)]
    press(of_result(), "Give Back")
    assert lower == [dict(row).get(tube.vertex_groups["lower"].index, 0) for row in entries(tube)]


def test_mark_a_loose_part_rigid():
    """The row selects it, the button marks it, and the next weighting moves it as one."""
    tube, rig = weighted()
    box = add_cube("Box", (0.45, 0, 1.5), 0.3)
    select(tube, box, rig)
    auto_weight(tube, box, rig, rigid_parts="OFF")
    finding = package("features.check.findings").Finding(
        "LOOSE_PART", 0.9, 1, -1, np.arange(8), 0.5, "It leaves."
    )
    outcome, found = at_hand(), flaws.found()
    found.keep([finding], outcome.bones, outcome.armature, outcome.objects, outcome.poses)
    press(of_finding("LOOSE_PART"), "Mark Rigid Part")
    bpy.ops.object.mode_set(mode="OBJECT")
    auto_weight(tube, box, rig, rigid_parts="OFF")
    rows = entries(box)
    assert rows[0] and all(row == rows[0] for row in rows)


def test_quantize_too_many_influences():
    places = np.linspace(0, 3, 7)
    bones = [
        (f"b{k}", (0, 0, z), (0, 0, z + 0.5), f"b{k - 1}" if k else None)
        for k, z in enumerate(places[:-1])
    ]
    tube, rig = add_tube(), add_armature(bones=bones)
    auto_weight(tube, rig)
    for name, *_rest in bones:
        tube.vertex_groups[name].add([40, 41], 1 / 6, "REPLACE")
    select(tube, rig)
    flaws.check()
    press(of_finding("INFLUENCES"), "Quantize Weights")
    assert max(len(row) for row in entries(tube)) <= 4
    select(tube, rig)
    flaws.check()
    assert "INFLUENCES" not in flaws.kinds_found()


def test_optimize_joints_of_a_bone_outside():
    bones = [
        ("lower", (0, 0, 0.05), (0, 0, 1.0), None),
        ("middle", (0, 0.6, 1.0), (0, 0.6, 2.0), "lower"),
        ("upper", (0, 0, 2.0), (0, 0, 2.95), "middle"),
    ]
    tube, rig = add_tube(), add_armature(bones=bones)
    auto_weight(tube, rig)
    flaws.check()
    (was,) = [f.severity for f in flaws.found().findings if f.kind == "BONE_OUTSIDE"]
    press(of_finding("BONE_OUTSIDE"), "Optimize Joints")
    assert abs(rig.data.bones["middle"].head_local.y) < 0.45, "it has moved inward"
    select(tube, rig)
    flaws.check()
    now = [f.severity for f in flaws.found().findings if f.kind == "BONE_OUTSIDE"]
    assert max(now, default=0) < was


def test_joints_and_tails():
    """The other way to read the bones, of results that stretch much."""
    tube, rig = flaws.tails_that_point_back()
    select(tube, rig)
    auto_weight(bone_directions="TAILS")
    torn = at_hand().facts["stretch"][1]
    press(of_result(), "Use Joints")
    outcome = at_hand()
    assert outcome.facts["stretch"][1] < 0.5 * torn and "Use Joints" not in texts(of_result())
    report = addon("window.last_report").report_of(bpy.context.scene)
    assert report["bone_directions"] == "JOINTS"
    report = report | {"deformation": {"after": {"surface_strain": 0.9}}}
    outcome.notes = package("reports.notes").result_notes(report)
    press(of_result(), "Use Tails")
    report = addon("window.last_report").report_of(bpy.context.scene)
    assert report["bone_directions"] == "TAILS"


def test_select_what_a_note_is_about():
    tube, rig = weighted()
    far = add_cube("Far", (0, 0, 60))
    auto_weight(tube, far, rig)
    press(of_result(), "Select")
    assert bpy.context.active_object == far and all(v.select for v in far.data.vertices)


def test_every_cure_is_pressed_here():
    """A new button needs a test here."""
    box, panel = addon("ui.result_box"), addon("ui.check_panel")
    buttons = {text for *_rest, text in box.REMEDIES.values()}
    buttons |= {text for _idname, text, _options in panel.CURES.values()}
    with open(__file__, encoding="utf-8") as file:
        pressed = file.read()
    assert buttons and all(f'"{text}")' in pressed for text in buttons)
