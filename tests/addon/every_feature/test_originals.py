"""The weights from before the first Auto-weight survive presses, undo, saving, and opening the file
again."""

import bpy
import numpy as np
import pytest
from scenes import add_tube, addon, auto_weight, bind, entries, select, tube_and_rig


@pytest.fixture(autouse=True)
def in_a_window(monkeypatch):
    """Runs the code as if a window were open."""
    for module in ("operator", "originals"):
        monkeypatch.setattr(addon(f"features.auto_weight.{module}"), "is_seen", lambda: True)


def at_hand():
    return addon("features.auto_weight.outcome").outcome_at_hand(bpy.context)


def shown(which):
    assert bpy.ops.object.araplbs_show_weights(which=which) == {"FINISHED"}


def painted():
    """A tube with an artist's weights, its rig, and the entries."""
    tube, rig = tube_and_rig()
    z = np.array([v.co.z for v in tube.data.vertices])
    for name, low in (("lower", -1), ("middle", 1), ("upper", 2)):
        own = np.flatnonzero((z >= low) & (z < low + 2))
        tube.vertex_groups.new(name=name).add(own.tolist(), 0.5, "REPLACE")
    select(tube, rig)
    return tube, rig, entries(tube)


def reopened(tmp_path):
    path = str(tmp_path / "file.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    assert not bpy.data.meshes["Tube"].araplbs.original, "it is in the file alone"
    bpy.ops.wm.open_mainfile(filepath=path)
    return bpy.data.objects["Tube"], bpy.data.objects["Rig"]


def test_it_survives_presses_saving_and_opening(tmp_path):
    tube, _rig, artist = painted()
    for bone_spring_stiffness in (10, 50, 90):
        auto_weight(bone_spring_stiffness=bone_spring_stiffness)
    ours = entries(tube)
    shown("ORIGINAL")
    tube, rig = reopened(tmp_path)
    assert entries(tube) == ours, "what is looked at is not what is saved"
    select(tube, rig)
    assert at_hand() is None
    auto_weight(bone_spring_stiffness=30)
    assert at_hand().slots["ORIGINAL"]
    shown("ORIGINAL")
    assert entries(tube) == artist
    tube, rig = reopened(tmp_path)
    select(tube, rig)
    auto_weight(bone_spring_stiffness=10)
    shown("ORIGINAL")
    assert entries(tube) == artist, "the second time, too"


def test_it_can_be_brought_back_without_a_result(tmp_path):
    tube, _rig, artist = painted()
    auto_weight()
    tube, rig = reopened(tmp_path)
    select(tube, rig)
    assert bpy.ops.object.araplbs_original_weights.poll()
    assert bpy.ops.object.araplbs_original_weights() == {"FINISHED"}
    assert entries(tube) == artist
    assert not tube.data.araplbs.made


def test_no_original_is_offered_where_none_was():
    """The first press on a mesh without weights replaces nothing, and its result is not an
    original."""
    tube, rig = tube_and_rig()
    for bone_spring_stiffness in (10, 50, 90):
        auto_weight(tube, rig, bone_spring_stiffness=bone_spring_stiffness)
        assert not at_hand().slots["ORIGINAL"]
    assert not bpy.ops.object.araplbs_original_weights.poll()


def reduce_bones(_tube):
    assert bpy.ops.object.araplbs_reduce_bones(count=2) == {"FINISHED"}


def transfer(tube):
    body = add_tube("Body", radius=0.25)
    bind(body, bpy.data.objects["Rig"])
    for name in ("lower", "middle", "upper"):
        body.vertex_groups.new(name=name).add(range(len(body.data.vertices)), 1 / 3, "REPLACE")
    select(tube, body, active=body)
    assert bpy.ops.object.araplbs_transfer() == {"FINISHED"}


def quantize(_tube):
    assert bpy.ops.object.araplbs_quantize(max_influences=1) == {"FINISHED"}


TOOLS = (reduce_bones, transfer, quantize)


def named(tube):
    """[{name of a group: weight}] of each vertex."""
    names = [group.name for group in tube.vertex_groups]
    return [{names[group]: weight for group, weight in row} for row in entries(tube)]


def brought_back(tube):
    select(tube, bpy.data.objects["Rig"])
    assert bpy.ops.object.araplbs_original_weights() == {"FINISHED"}
    return named(tube)


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("presses", [0, 2])
def test_it_survives_other_tools(tool, presses, tmp_path):
    """The original survives tools that are used after a press or alone, and opening the file
    again."""
    tube, _rig, _entries = painted()
    artist = named(tube)
    for press in range(presses):
        auto_weight(bone_spring_stiffness=10 + press)
    tool(tube)
    assert named(tube) != artist
    assert brought_back(tube) == artist
    bpy.ops.wm.read_homefile(use_empty=True)
    tube, _rig, _entries = painted()
    tool(tube)
    tube, _rig = reopened(tmp_path)
    assert brought_back(tube) == artist


def deforming(rig):
    return [bone.name for bone in rig.data.bones if bone.use_deform]


@pytest.mark.parametrize("way", ["back", "back in a new session", "keep"])
def test_reduced_bones_deform_again(way, tmp_path):
    """The restored weights turn Deform on again, because they would otherwise move nothing. A bone
    whose Deform flag the artist turned off stays off."""
    tube, rig, _entries = painted()
    z = np.array([v.co.z for v in tube.data.vertices])
    tube.vertex_groups.new(name="off").add(np.flatnonzero(z > 2).tolist(), 0.5, "REPLACE")
    with addon("blender.write.edit_bones").editing(rig) as bones:
        bones.new("off").tail = (0, 0, 1)
    rig.data.bones["off"].use_deform = False
    artist, all_of_them = named(tube), deforming(rig)
    reduce_bones(tube)
    assert len(deforming(rig)) == 2
    if way == "keep":
        auto_weight(tube, rig, bone_spring_stiffness=10)
        shown("ORIGINAL")
        assert len(deforming(rig)) == 2, "it is only shown"
        assert bpy.ops.object.araplbs_keep_shown_weights() == {"FINISHED"}
        now = named(tube)
    else:
        if way != "back":
            tube, rig = reopened(tmp_path)
        now = brought_back(tube)
    assert now == artist and deforming(rig) == all_of_them
    assert not any(bone.araplbs_reduced for bone in rig.data.bones)


@pytest.mark.parametrize("tool", [*TOOLS, None])
def test_it_survives_undo(tool):
    """Ctrl Z restores the original, which is still available after the next press."""
    tube, _rig, _entries = painted()
    artist = named(tube)
    bpy.ops.ed.undo_push(message="set-up")
    tool(tube) if tool else auto_weight()
    bpy.ops.ed.undo_push(message="tool")
    bpy.ops.ed.undo()
    tube, rig = bpy.data.objects["Tube"], bpy.data.objects["Rig"]
    assert named(tube) == artist
    select(tube, rig)
    auto_weight(bone_spring_stiffness=10)
    auto_weight(bone_spring_stiffness=90)
    shown("ORIGINAL")
    assert named(tube) == artist


def test_scripts_keep_no_second_set(monkeypatch):
    tube, rig, _artist = painted()
    monkeypatch.setattr(addon("features.auto_weight.originals"), "is_seen", lambda: False)
    quantize(tube)
    select(tube, rig)
    assert not bpy.ops.object.araplbs_original_weights.poll()


def test_what_is_painted_on_a_bare_mesh_after_undo_is_original():
    tube, rig = tube_and_rig()
    auto_weight(tube, rig)
    tube.vertex_groups.clear()  # as Ctrl Z does, which takes the marks back too
    tube.data.araplbs.weighting, tube.data.araplbs.made = "", ""
    tube.vertex_groups.new(name="lower").add(range(len(tube.data.vertices)), 1.0, "REPLACE")
    artist = entries(tube)
    auto_weight(tube, rig, bone_spring_stiffness=10)
    auto_weight(tube, rig, bone_spring_stiffness=90)
    shown("ORIGINAL")
    assert entries(tube) == artist


def test_weights_of_another_tool_are_original():
    """Weights of another tool are original even if they replace ours, because the mark of our
    weights does not apply to them."""
    tube, rig = tube_and_rig()
    auto_weight(tube, rig)
    tube.vertex_groups.clear()
    tube.vertex_groups.new(name="lower").add(range(len(tube.data.vertices)), 1.0, "REPLACE")
    other = entries(tube)
    auto_weight(tube, rig, bone_spring_stiffness=10)
    auto_weight(tube, rig, bone_spring_stiffness=90)
    shown("ORIGINAL")
    assert entries(tube) == other


def test_a_stroke_does_not_make_them_an_artists():
    tube, rig = tube_and_rig()
    auto_weight(tube, rig)
    ours = addon("blender.data.ours")
    tube.vertex_groups["lower"].add(range(len(tube.data.vertices) // 4), 0.3, "REPLACE")
    assert ours.is_ours(tube)
    tube.vertex_groups["lower"].add(range(len(tube.data.vertices)), 0.3, "REPLACE")
    assert not ours.is_ours(tube)


def test_another_mesh_beside_it_keeps_its_own():
    tube, rig, artist = painted()
    auto_weight()
    sleeve = add_tube("Sleeve", radius=0.4)
    bind(sleeve, rig)
    sleeve.vertex_groups.new(name="upper").add(range(len(sleeve.data.vertices)), 1.0, "REPLACE")
    own = entries(sleeve)
    auto_weight(tube, sleeve, rig)
    shown("ORIGINAL")
    assert entries(tube)[0][0][1] == artist[0][0][1] and entries(sleeve) == own


@pytest.mark.parametrize("cut", [0, 5, -1])
def test_damaged_bytes_are_not_taken(tmp_path, cut):
    """Bytes damaged by another program are not used."""
    tube, _rig, _artist = painted()
    originals = addon("features.auto_weight.originals")
    slots = addon("blender.write.weight_slots")
    data = originals.packed(slots.WeightSlot(tube))
    assert originals.unpacked(tube, data)
    assert originals.unpacked(tube, data[:cut]) is None
    other = add_tube("Other", rings=5)
    assert originals.unpacked(other, data) is None, "other vertices"


def test_compare_is_told_whose_the_weights_are():
    tube, rig, _artist = painted()
    assert not tube.data.araplbs.made
    auto_weight()
    assert tube.data.araplbs.made
    bpy.ops.object.araplbs_quantize()
    assert tube.data.araplbs.made, "they are ours all the same"
    auto_weight(bone_spring_stiffness=90)
    shown("ORIGINAL")
    assert not tube.data.araplbs.made
    shown("BEFORE")
    assert tube.data.araplbs.made
    select(tube, rig)
    bpy.ops.object.araplbs_keep_shown_weights(which="ORIGINAL")
    assert not tube.data.araplbs.made
