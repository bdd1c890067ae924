"""The remedies that the Result box and Check and Repair offer. The tests find each button by
drawing the panel, press the button with its options in the panel, and check that it keeps its
promise."""

import araplbs
import bpy
import flaws
import numpy as np
import pytest
from mathutils import Matrix
from rows_of import Rows
from scenes import (
    BONES,
    add_armature,
    add_cube,
    add_tube,
    addon,
    auto_weight,
    bind,
    entries,
    keyed,
    package,
    select,
    weights,
)
from test_outcome import at_hand, in_a_window, weighted  # noqa: F401


def of_result():
    outcome, layout = at_hand(), Rows()
    outcome.to_draw = None  # no pictures
    addon("panels.result_box").draw_result(layout, bpy.context, outcome)
    return layout.buttons


def of_finding(kind):
    """The buttons below the list of Check and Repair for the first finding of a kind."""
    layout, panel = Rows(), addon("panels.check_panel").VIEW3D_PT_araplbs_check
    panel._draw_words(panel, bpy.context, layout, flaws.choose(kind))
    return layout.buttons


def press(buttons, text, number=0):
    pressed = [each for each in buttons if each[1] == text][number]
    idname, _text, button = pressed
    call = getattr(bpy.ops.object, idname.removeprefix("object."))
    assert call(**vars(button)) == {"FINISHED"}


def texts(buttons):
    return [text for _idname, text, _button in buttons]


def test_problems_are_repaired_from_the_box():
    """One click repairs the problems; the box and the list then show the remaining ones."""
    tube, rig = weighted(bone_spring_stiffness=50)
    auto_weight(bone_spring_stiffness=1)
    before = entries(tube)
    with pytest.raises(RuntimeError, match="No problems remain"):
        bpy.ops.object.araplbs_repair(which="RESULT")
    flaws.stretch(tube, rig)
    flawed = entries(tube)
    select(tube, rig)
    flaws.check()
    outcome, visible = at_hand(), package("features.check.before_after").visible
    outcome.findings = list(flaws.found().findings)
    outcome.facts["problems"] = (0, visible(outcome.findings))
    assert outcome.facts["problems"][1] > 0
    press(of_result(), "Repair")
    outcome = at_hand()
    assert entries(tube) != flawed and "Repair" not in texts(of_result())
    assert outcome.facts["problems"] == (0, visible(flaws.found().findings)) == (0, 0)
    assert 0 < outcome.facts["stretch"][1] < 1
    repaired = entries(tube)
    outcome.show("BEFORE")
    assert entries(tube) not in (before, repaired)
    outcome.show("AFTER")
    assert entries(tube) == repaired


def test_keep_old():
    tube, _rig = weighted(bone_spring_stiffness=0)
    before = entries(tube)
    assert "Keep Old" not in texts(of_result())
    auto_weight(bone_spring_stiffness=300, initial="NEAREST")
    assert at_hand().verdict and entries(tube) != before
    press(of_result(), "Keep Old")
    assert entries(tube) == before and at_hand() is None


def test_a_left_out_bone_that_had_skin():
    """The former skin of a bone in an artist's file no longer follows the bone."""
    bones = [*BONES, ("twin", (0, 0, 2.0), (0.05, 0, 2.9), None)]
    tube, rig = add_tube(), add_armature(bones=bones)
    auto_weight(tube, rig, control_bones="INCLUDE")
    own = [v.index for v in tube.data.vertices if v.co.z > 2.5 and v.co.x > 0.1]
    for group in tube.vertex_groups:
        group.remove(own)
    tube.vertex_groups["twin"].add(own, 1.0, "REPLACE")
    select(tube, rig)
    auto_weight()
    assert "1 left-out bone has lost its skin: twin" in notes()
    assert not any("control bone" in text for text in notes()), "it is told once"
    press(of_result(), "Include")
    assert held(tube, "twin") and "Include" not in texts(of_result())


def held(tube, name):
    """The number of vertices in a group."""
    index = tube.vertex_groups[name].index if name in tube.vertex_groups else -1
    return sum(
        any(g.group == index and g.weight > 0.1 for g in v.groups) for v in tube.data.vertices
    )


def lost_skin():
    """Returns (tube, rig, entries before): the artist has given skin to a bone in another place."""
    tube, rig = flaws.skin_of_another_bone()
    before = entries(tube)
    select(tube, rig)
    auto_weight()
    assert "1 bone has lost its skin: prop" in notes() and len(at_hand().facts["lost"]) == 1
    return tube, rig, before


def notes():
    return [str(note.text) for note in at_hand().notes]


@pytest.mark.parametrize("which", ["AFTER", "BEFORE"])
def test_give_a_bone_its_skin_back(which):
    """The bone's skin gets the earlier weights, and all other vertices keep the new ones, whichever
    weights are displayed. The box then shows the current state."""
    tube, _rig, before = lost_skin()
    new, outcome = entries(tube), at_hand()
    outcome.show(which)
    press(of_result(), "Give Back")
    now, skin = entries(tube), [k for k, v in enumerate(tube.data.vertices) if v.co.z > 1.99]
    assert [now[k] for k in skin] == [before[k] for k in skin]
    others = [k for k in range(len(now)) if k not in skin]
    assert [now[k] for k in others] == [new[k] for k in others]
    assert at_hand() is outcome and outcome.shown() == "AFTER"
    assert not any("lost" in text for text in notes())
    assert "Give Back" not in texts(of_result())
    assert outcome.facts["lost"] == [] and outcome.facts["stretch"][1] > 0
    assert outcome.findings is not None and outcome.facts["problems"][1] >= 0
    outcome.show("BEFORE")
    assert entries(tube) == before
    outcome.show("AFTER")
    assert entries(tube) == now
    with pytest.raises(RuntimeError, match="No bone has lost its skin"):
        bpy.ops.object.araplbs_give_back()


def test_skin_that_another_limb_moves():
    """The artist has given a band of the upper bone's limb to the lower bone."""
    tube, rig, _places = flaws.flawed()
    for vertex in tube.data.vertices:
        low = int(min(vertex.co.z, 2.99))
        flaws.remove(tube, [vertex.index])
        name = "lower" if 2 <= vertex.co.z < 2.4 else ("lower", "middle", "upper")[low]
        tube.vertex_groups[name].add([vertex.index], 1.0, "REPLACE")
    before = entries(tube)
    select(tube, rig)
    auto_weight()
    (note,) = (note for note in at_hand().notes if "another limb" in str(note.text))
    assert str(note.text) == "1 bone has lost skin to another limb: lower"
    assert str(note.why) == "Now moved by upper" and not at_hand().facts["lost"]
    press(of_result(), "Give Back")
    band = [v.index for v in tube.data.vertices if 2.1 < v.co.z < 2.4]
    assert band and all(entries(tube)[k] == before[k] for k in band)
    assert not at_hand().facts["reaching"] and not any("limb" in text for text in notes())


def test_giving_skin_back_measures_the_actions_of_the_file_again():
    tube, rig = flaws.skin_of_another_bone()
    keyed(rig, "middle", {1: 0.0, 20: 1.2})
    select(tube, rig)
    auto_weight()
    before, _after = at_hand().facts["actions"]
    press(of_result(), "Give Back")
    assert at_hand().facts["actions"][0] == before and at_hand().facts["actions"][1] > 0


def test_bones_that_were_left_out_are_not_given_back():
    """Excluded bones have a note and a remedy of their own."""
    _tube, _rig, _before = lost_skin()
    outcome = at_hand()
    outcome.facts["lost"] = [*outcome.facts["lost"], 0]
    given = []
    kind = addon("features.auto_weight.give_back").GiveBackTask
    start = kind.__init__

    def noted(task, outcome, lost, threads=0):
        given.extend(lost)
        start(task, outcome, lost, threads)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kind, "__init__", noted)
        press(of_result(), "Give Back")
    assert given == ["prop"]


def test_giving_skin_back_can_be_called_off():
    """The operator measures first and writes nothing if the measurement is stopped."""
    tube, _rig, _before = lost_skin()
    new, outcome = entries(tube), at_hand()
    kind = addon("features.auto_weight.give_back").GiveBackTask
    task = kind(outcome, ["prop"])
    objects = [each.get() for each in outcome.objects]
    targets = addon("blender.read.targets").Targets(outcome.armature.get(), objects)
    task.read(targets, bpy.context.view_layer)
    told = []

    def stops(stage, fraction, _energy=None):
        told.append((stage, fraction))
        return len(told) < 3

    with pytest.raises(araplbs.Cancelled):
        task.solve(stops)
    assert len(told) >= 3 and entries(tube) == new and at_hand() is outcome
    assert "1 bone has lost its skin: prop" in notes()


def test_locked_groups_stay_when_skin_is_given_back():
    tube, _rig, _before = lost_skin()
    tube.vertex_groups["lower"].lock_weight = True
    lower = [dict(row).get(tube.vertex_groups["lower"].index, 0) for row in entries(tube)]
    press(of_result(), "Give Back")
    assert lower == [dict(row).get(tube.vertex_groups["lower"].index, 0) for row in entries(tube)]


def test_mark_a_loose_part_rigid():
    """The row selects the part, the button marks the part, and the next weighting moves the part as
    a whole."""
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


@pytest.mark.parametrize("is_note", [False, True])
def test_optimize_joints_of_a_bone_outside(is_note):
    """The finding offers it, and the note on bones that share skin with others."""
    lower, _middle, upper = BONES
    bones = [lower, ("middle", (0, 0.6, 1.0), (0, 0.6, 2.0), "lower"), upper]
    tube, rig = add_tube(), add_armature(bones=bones)
    auto_weight(tube, rig)
    told = addon("operators.last_report").report_of(bpy.context.scene)
    flaws.check()
    (was,) = [f.severity for f in flaws.found().findings if f.kind == "BONE_OUTSIDE"]
    held = told | {"held_cost": 0.1, "held_bones": ["middle"], "parts": 2}
    at_hand().notes = package("reports.notes").result_notes(held)
    press(of_result() if is_note else of_finding("BONE_OUTSIDE"), "Optimize Joints")
    assert abs(rig.data.bones["middle"].head_local.y) < 0.45, "it has moved inward"
    select(tube, rig)
    flaws.check()
    now = [f.severity for f in flaws.found().findings if f.kind == "BONE_OUTSIDE"]
    assert max(now, default=0) < was


def test_joints_and_tails():
    """If the surface stretches strongly, a button offers the other way of deriving bone
    directions."""
    tube, rig = flaws.tails_that_point_back()
    select(tube, rig)
    auto_weight(bone_directions="TAILS")
    torn = at_hand().facts["stretch"][1]
    press(of_result(), "Use Joints")
    outcome = at_hand()
    assert outcome.facts["stretch"][1] < 0.5 * torn and "Use Joints" not in texts(of_result())
    report = addon("operators.last_report").report_of(bpy.context.scene)
    assert report["bone_directions"] == "JOINTS"
    report = report | {"deformation": {"after": {"surface_strain": 0.9}}}
    outcome.notes = package("reports.notes").result_notes(report)
    press(of_result(), "Use Tails")
    report = addon("operators.last_report").report_of(bpy.context.scene)
    assert report["bone_directions"] == "TAILS"


def test_make_a_rigid_part_soft():
    """A rigid band around a joint bends again."""
    tube, _rig = weighted()
    band = [v.index for v in tube.data.vertices if 0.7 < v.co.z < 1.3]
    addon("blender.data.edits").add_rigid_part(tube.data, np.array(band))
    auto_weight()
    rows = [entries(tube)[k] for k in band]
    assert "1 rigid part" in notes() and all(row == rows[0] for row in rows)
    press(of_result(), "Make Soft")
    rows = [entries(tube)[k] for k in band]
    assert "1 rigid part" not in notes() and any(row != rows[0] for row in rows)


def test_make_a_part_rigid():
    """One click marks the part, and the next weighting moves the part as a whole."""
    tube, rig = weighted()
    far = add_cube("Far", (0, 0, 1), 2.0)
    auto_weight(tube, far, rig, rigid_parts="OFF")
    rows = entries(far)
    assert any(row != rows[0] for row in rows)
    report = addon("operators.last_report").report_of(bpy.context.scene)
    unseen = [{"object": "Far", "vertex": 3, "size": 8, "rigid": False}]
    at_hand().notes = package("reports.notes").result_notes(report | {"unseen_parts": unseen})
    press(of_result(), "Make Rigid")
    (edit,) = far.data.araplbs.edits
    assert edit.kind == "RIGID"
    auto_weight(tube, far, rig, rigid_parts="MARKED")
    rows = entries(far)
    assert rows[0] and all(row == rows[0] for row in rows)
    at_hand().notes = []
    with pytest.raises(RuntimeError, match="There is no note 0"):
        bpy.ops.object.araplbs_make_rigid(index=0)


def test_unlock_groups():
    tube, _rig = weighted()
    tube.vertex_groups["lower"].lock_weight = True
    tube.vertex_groups.new(name="of the artist").lock_weight = True
    auto_weight(bone_spring_stiffness=1)
    before = weights(tube, ["lower"])
    assert "1 locked group kept" in notes()
    press(of_result(), "Unlock Groups")
    assert [g.name for g in tube.vertex_groups if g.lock_weight] == ["of the artist"]
    auto_weight(bone_spring_stiffness=100)
    assert "1 locked group kept" not in notes() and (weights(tube, ["lower"]) != before).any()
    with pytest.raises(RuntimeError, match="No vertex group of a bone is locked"):
        bpy.ops.object.araplbs_unlock_groups()


def torn_off(*bones):
    """The note of the box on bones that poses tear off."""
    report = addon("operators.last_report").report_of(bpy.context.scene)
    report = report | {"torn_off": bones, "deformation": {"after": {"surface_strain": 2.0}}}
    report |= {"tails_aside": False, "bone_directions": "TAILS"}
    at_hand().notes = package("reports.notes").result_notes(report)


def test_parent_a_bone_at_its_joint():
    """A bone that poses tear off becomes a child of the bone at its joint, without being moved."""
    tube, rig = weighted()
    root = ("root", (0, 2, 0), (0, 2, 0.5), None)
    bones = [root, *BONES[:2], ("foot", (0, 0, 2), (0, 0, 2.9), "root")]
    rig = add_armature("Other", bones=bones)
    tube = add_tube("Leg")
    auto_weight(tube, rig)
    torn_off("foot")
    before = rig.data.bones["foot"].head_local.copy()
    press(of_result(), "Parent at Joint")
    foot = rig.data.bones["foot"]
    assert foot.parent.name == "middle" and (foot.head_local - before).length < 1e-6


def test_parent_two_bones_at_one_joint():
    """Each of two bones is nearest to the other one, which is equally far from its own joint."""
    weighted()
    root, lower = ("root", (0, 2, 0), (0, 2, 0.5), None), ("lower", (0, 0, 0.05), (0, 0, 1.9), None)
    bones = [root, lower, *((name, (0, 0.05, 2), (0, 0, 2.9), "root") for name in ("a", "b"))]
    rig = add_armature("Other", bones=bones)
    auto_weight(add_tube("Leg"), rig)
    torn_off("a", "b")
    press(of_result(), "Parent at Joint")
    assert [rig.data.bones[name].parent.name for name in "ab"] == ["lower", "lower"]


def test_a_parent_that_would_be_its_own_descendant():
    """In Edit mode, the hierarchy differs from the one that was weighted. The operator changes
    nothing and states the reason."""
    weighted()
    root, lower = ("root", (0, 2, 0), (0, 2, 0.5), None), ("lower", (0, 0, 0.05), (0, 0, 1.9), None)
    rig = add_armature("Other", bones=[root, lower, ("foot", (0, 0, 2), (0, 0, 2.9), "root")])
    auto_weight(add_tube("Leg"), rig)
    torn_off("foot")
    (index,) = [k for k, note in enumerate(at_hand().notes) if "foot" in note.bones]
    select(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones["lower"].parent = rig.data.edit_bones["foot"]
    with pytest.raises(RuntimeError, match="'lower' is already a descendant of 'foot'"):
        bpy.ops.object.araplbs_parent_at_joint(index=index)
    assert rig.mode == "EDIT" and rig.data.edit_bones["foot"].parent.name == "root"


def test_repair_a_part_that_leaves():
    """Only the parts that the note names are repaired."""
    tube, rig = weighted()
    box = add_cube("Box", (0.4, 0, 0.5), 0.2)
    auto_weight(tube, box, rig)
    report = addon("operators.last_report").report_of(bpy.context.scene)
    for group in box.vertex_groups:
        group.remove(range(8))
    (box.vertex_groups.get("upper") or box.vertex_groups.new(name="upper")).add(
        range(8), 1.0, "REPLACE"
    )
    select(tube, box, rig)
    flaws.check()
    (leaves,) = [f for f in flaws.found().findings if f.kind == "LOOSE_PART"]
    outcome = at_hand()
    outcome.findings = list(flaws.found().findings)
    outcome.facts["problems"] = (0, len(outcome.findings))
    leaving = [("Box", int(leaves.vertices[0]))]
    outcome.notes = package("reports.notes").result_notes(report, leaving=leaving)
    flawed = entries(box)
    press(of_result(), "Repair", number=1)
    assert entries(box) != flawed
    left = [f.severity for f in flaws.found().findings if f.kind == "LOOSE_PART"]
    assert max(left, default=0) < leaves.severity


SHELL = {"SPLIT_EDGES": "Merge Vertices", "NOISE": "Smooth Surface", "ISLANDS": "Remove Vertices"}


@pytest.mark.parametrize("kind", SHELL)
def test_mend_the_mesh(kind):
    """The operator repairs faults that no weights can remove. The remaining vertices keep their
    weights."""
    tube, rig = add_tube(), add_armature()
    points = [v.co.copy() for v in tube.data.vertices]
    if kind == "ISLANDS":
        crumb = add_cube("Crumb", (0, 0, 1), 0.01)
        select(tube, crumb, active=tube)
        bpy.ops.object.join()
    elif kind == "SPLIT_EDGES":
        select(tube)
        bpy.ops.object.modifier_add(type="EDGE_SPLIT")
        tube.modifiers[0].split_angle = 0.2
        bpy.ops.object.modifier_apply(modifier=tube.modifiers[0].name)
        assert len(tube.data.vertices) > len(points)
    auto_weight(tube, rig)
    outcome, count = at_hand(), len(tube.data.vertices)
    about = np.arange(len(points), count) if kind == "ISLANDS" else np.arange(count)
    finding = package("features.check.findings").Finding(kind, 0.5, 0, -1, about, 0.5, "So it is.")
    flaws.found().keep([finding], outcome.bones, outcome.armature, outcome.objects, outcome.poses)
    press(of_finding(kind), SHELL[kind])
    if kind == "NOISE":
        now = [v.co for v in tube.data.vertices]
        assert len(now) == len(points) and any(a != b for a, b in zip(now, points, strict=True))
    else:
        assert len(tube.data.vertices) == len(points)
    assert (weights(tube, ["lower", "middle", "upper"]).sum(1) > 0.99).all()
    with pytest.raises(RuntimeError, match="has changed since"):
        bpy.ops.object.araplbs_mend_mesh(index=0)


def test_a_mesh_is_not_mended_if_nothing_would_change():
    """Meshes with separate vertices and meshes that other objects use are not changed."""
    tube, _rig = weighted()
    outcome, count = at_hand(), len(tube.data.vertices)
    finding = package("features.check.findings").Finding
    found = finding("SPLIT_EDGES", 0.5, 0, -1, np.arange(count), 0.5, "So it is.")
    flaws.found().keep([found], outcome.bones, outcome.armature, outcome.objects, outcome.poses)
    with pytest.raises(RuntimeError, match="No vertices are close enough to merge"):
        bpy.ops.object.araplbs_mend_mesh(index=0)
    other = bpy.data.objects.new("Other", tube.data)
    with pytest.raises(RuntimeError, match="'Tube' shares its mesh with other objects"):
        bpy.ops.object.araplbs_mend_mesh(index=0)
    assert len(other.data.vertices) == count


def test_the_mesh_is_mended_for_its_own_findings_only():
    tube, rig = weighted()
    flaws.speckle(tube, rig)
    select(tube, rig)
    flaws.check()
    index = flaws.choose("SPECKLE")
    with pytest.raises(RuntimeError, match="Repair solves its weights again"):
        bpy.ops.object.araplbs_mend_mesh(index=index)


def test_every_finding_says_why_and_what_mends_it():
    kinds = package("features.check.kinds")
    for kind in kinds.KINDS:
        assert kind.cause and (kind.is_repairable or kind.cure), kind.id
    assert {kind.cure for kind in kinds.KINDS} - {""} == set(addon("panels.check_panel").CURES)


def test_a_note_has_a_line_of_why():
    tube, _rig = weighted()
    tube.vertex_groups["lower"].lock_weight = True
    auto_weight(bone_spring_stiffness=1)
    at_hand().to_draw, layout = None, Rows()
    addon("panels.result_box").draw_result(layout, bpy.context, at_hand())
    assert "Lockedgroupskeeptheirweights" in "".join(map(str, layout.words)).replace(" ", "")


def test_select_what_a_note_is_about():
    tube, rig = weighted()
    far = add_cube("Far", (0, 0, 60))
    auto_weight(tube, far, rig)
    press(of_result(), "Select")
    assert bpy.context.active_object == far and all(v.select for v in far.data.vertices)
    with pytest.raises(RuntimeError, match="There is no note 99"):
        bpy.ops.object.araplbs_select_note(index=99)


def test_every_cure_is_pressed_here():
    """A new button needs a test in this file."""
    box, panel = addon("panels.result_box"), addon("panels.check_panel")
    buttons = {text for *_rest, text in box.REMEDIES.values()}
    buttons |= {text for _idname, text, _options in box.CURES.values()} | set(panel.CURES)
    # pressed by test_mend_the_mesh; has the name of a bone; pressed in tests/addon/twist_bones
    buttons -= {*SHELL.values(), "Give Part to Bone", "Add Twist Bones"}
    with open(__file__, encoding="utf-8") as file:
        pressed = file.read()
    assert len(buttons) > 8 and all(f'"{text}"' in pressed for text in buttons), buttons


SHIFT = 0.35  # more than the tube's radius


def off_bones(bones=4, length=3.0):
    """A tube whose painted weights show that its bones are off its middle."""
    ends = np.linspace(0.05, length - 0.05, bones + 1)
    names = [f"bone{k}" for k in range(bones)]
    rig = add_armature(
        bones=[
            (name, (-SHIFT, 0, low), (-SHIFT, 0, high), names[k - 1] if k else None)
            for k, (name, low, high) in enumerate(zip(names, ends[:-1], ends[1:], strict=True))
        ]
    )
    tube = add_tube(rings=31)
    bind(tube, rig)
    height = np.array([v.co.z for v in tube.data.vertices])
    for k, name in enumerate(names):
        low, high = (-1 if not k else ends[k]), (length + 1 if k == bones - 1 else ends[k + 1])
        own = np.flatnonzero((height >= low) & (height < high)).tolist()
        tube.vertex_groups.new(name=name).add(own, 1.0, "REPLACE")
    return tube, rig


def test_move_limbs_to_their_skin():
    """The note names the shift, its button moves the bones to the middle of the skin, and the next
    Auto-weight has no such note."""
    tube, rig = off_bones()
    auto_weight(tube, rig)
    (note,) = [each for each in at_hand().notes if "off" in each.text]
    assert note.urgent and note.text == "1 limb is off its bones"
    assert note.why == f"By {SHIFT} units toward +X" and len(note.bones) == 4
    rig.data.bones["bone3"].araplbs_joint.lock_head = True
    with pytest.raises(RuntimeError, match="no limb to move, or its joints are locked"):
        press(of_result(), "Move Limbs")
    rig.data.bones["bone3"].araplbs_joint.lock_head = False
    press(of_result(), "Move Limbs")
    for bone in rig.data.bones:
        for end in (bone.head_local, bone.tail_local):
            assert abs(end.x) < 1e-3 and abs(end.y) < 1e-3
    assert at_hand() is None, "these weights belong to other bones"
    auto_weight(tube, rig)
    assert not [each for each in at_hand().notes if "off" in each.text]


def test_optimize_joints_moves_limbs_to_their_skin():
    tube, rig = off_bones()
    select(tube, rig)
    bpy.ops.object.araplbs_joints("EXEC_DEFAULT", pose_count=8, iterations=2)
    for bone in rig.data.bones:
        assert abs(bone.head_local.x) < 1e-3 and abs(bone.tail_local.x) < 1e-3
    told = addon("operators.last_report").report_of(bpy.context.scene)
    assert not told or not told.get("limb_shifts")


def test_a_skeleton_that_does_not_fit():
    """The note names the cause, and no button pretends to repair it."""
    tube, rig = off_bones()
    tube.data.transform(Matrix.Scale(100, 4))
    auto_weight(tube, rig)
    (note,) = [each for each in at_hand().notes if each.text == "The skeleton does not fit"]
    assert note.urgent and note.why == "It is 100 times smaller than the mesh"
    assert "Optimize Joints" not in [text for _idname, text, _button in of_result()]
