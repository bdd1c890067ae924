"""Control bones flagged Deform get no influence, are listed with a reason, and can be included."""

import bpy
import numpy as np
import pytest
from scenes import (
    add_armature,
    add_tube,
    addon,
    assert_good,
    auto_weight,
    bind,
    choose_bones,
    deform_names,
    package,
    select,
    snapshot,
    weights,
)

CONTROLS = {"root": "ROOT", "copy": "TWIN", "pole": "OUTSIDE"}
ARM = ("lower", "middle", "upper")


@pytest.fixture
def arm():
    """An arm that is a child of a root on the floor, with an IK copy of its end and a pole
    target."""
    bones = [
        ("root", (0, 0, -1), (0.5, 0, -1), None),
        ("lower", (0, 0, 0.05), (0, 0, 1), "root"),
        ("middle", (0, 0, 1), (0, 0, 2), "lower"),
        ("upper", (0, 0, 2), (0, 0, 2.95), "middle"),
        ("copy", (0, 0, 2), (0, 0, 3.2), "root"),
        ("pole", (0, 1.5, 1), (0, 2, 1), "root"),
    ]
    return add_tube(), add_armature(bones=bones)


def marks(rig):
    return {b.name: b.araplbs_control for b in rig.data.bones if b.araplbs_control != "NONE"}


def weighted(tube):
    """Names of the groups that contain an entry."""
    names = [group.name for group in tube.vertex_groups]
    return {names[element.group] for vertex in tube.data.vertices for element in vertex.groups}


def test_left_out_and_listed(arm, capfd):
    tube, rig = arm
    assert auto_weight(tube, rig) == {"FINISHED"}
    assert weighted(tube) == set(ARM) == {group.name for group in tube.vertex_groups}
    assert marks(rig) == CONTROLS
    assert all(rig.data.bones[name].use_deform for name in CONTROLS)
    assert "Control bones left out (no skin is around it): pole" in capfd.readouterr().out
    np.testing.assert_allclose(weights(tube, ARM).sum(axis=1), 1, atol=1e-6)


def test_a_row_selects_its_bone(arm):
    """A click on a row, which sets its index, selects the bone and no other one."""
    tube, rig = arm
    auto_weight(tube, rig)
    for name in ("pole", "copy"):
        bpy.context.window_manager.araplbs_control_bone = rig.data.bones.find(name)
        assert addon("blender.data.bones").selected_bones(rig) == [name]
        assert rig.data.bones.active.name == name and bpy.context.mode == "POSE"
    bpy.context.window_manager.araplbs_control_bone = 99
    assert rig.data.bones.active.name == "copy"
    bpy.ops.object.mode_set(mode="OBJECT")


def test_same_weights_as_without_them(arm):
    """An excluded bone moves nothing and is not a virtual segment of another bone either, so its
    position does not matter. The rig keeps its number of bones to get the same random poses."""
    tube, rig = arm
    auto_weight(tube, rig)
    found = weights(tube, ARM)
    clean = add_armature(
        "Clean",
        [
            ("root", (9, 0, 0), (10, 0, 0), None),
            ("lower", (0, 0, 0.05), (0, 0, 1), None),
            ("middle", (0, 0, 1), (0, 0, 2), "lower"),
            ("upper", (0, 0, 2), (0, 0, 2.95), "middle"),
            ("copy", (9, 1, 0), (10, 1, 0), None),
            ("pole", (9, 2, 0), (10, 2, 0), None),
        ],
    )
    for name in CONTROLS:
        clean.data.bones[name].use_deform = False
    other = add_tube("Other")
    auto_weight(other, clean)
    np.testing.assert_allclose(found, weights(other, ARM), atol=1e-6)


@pytest.mark.parametrize("through_rig", [False, True])
def test_bendy_bones_that_are_left_out(arm, through_rig):
    """The joints of the bones' segments are not read, so the weights are the same as if the bones
    had no segments."""
    tube, rig = arm
    rig.pose.bones["middle"].constraints.new("LIMIT_LOCATION")  # a rig that moves itself
    rig.data.bones["upper"].bbone_segments = 4
    auto_weight(tube, rig, through_rig=through_rig)
    plain = weights(tube, ARM)
    for name in CONTROLS:
        rig.data.bones[name].bbone_segments = 3
    assert auto_weight(tube, rig, through_rig=through_rig) == {"FINISHED"}
    assert marks(rig) == CONTROLS
    np.testing.assert_allclose(weights(tube, ARM), plain, atol=1e-6)
    assert bpy.ops.object.araplbs_check() == {"FINISHED"}


def test_stale_weights_go(arm):
    """Blender would still use old weights, because excluded bones are deform bones for Blender."""
    tube, rig = arm
    bind(tube, rig)
    for name in ("copy", "upper"):
        tube.vertex_groups.new(name=name).add(range(len(tube.data.vertices)), 0.5, "REPLACE")
    assert auto_weight(tube, rig) == {"FINISHED"}
    assert weighted(tube) == set(ARM)
    assert_good(tube, rig)
    assert "copy" in tube.vertex_groups


def test_locked_weights_stay(arm):
    """A locked group with weights means that the bone should deform."""
    tube, rig = arm
    bind(tube, rig)
    group = tube.vertex_groups.new(name="copy")
    group.add([0, 1, 2], 0.25, "REPLACE")
    group.lock_weight = True
    tube.vertex_groups.new(name="pole").lock_weight = True
    assert auto_weight(tube, rig) == {"FINISHED"}
    assert marks(rig) == {"root": "ROOT", "pole": "OUTSIDE"}
    kept = {
        vertex.index: element.weight
        for vertex in tube.data.vertices
        for element in vertex.groups
        if element.group == group.index
    }
    assert kept == {0: 0.25, 1: 0.25, 2: 0.25}
    assert_sums(tube, rig)


def assert_sums(tube, rig):
    np.testing.assert_allclose(weights(tube, deform_names(rig)).sum(axis=1), 1, atol=1e-6)


def test_only_control_bones_are_free(arm):
    tube, rig = arm
    bind(tube, rig)
    for name in ARM:
        group = tube.vertex_groups.new(name=name)
        group.add([0], 0.5, "REPLACE")
        group.lock_weight = True
    select(tube, rig)
    before = snapshot()
    with pytest.raises(RuntimeError, match="all its unlocked bones are control bones"):
        auto_weight(tube, rig)
    assert snapshot() == before


def test_only_control_bones_are_selected(arm):
    tube, rig = arm
    bind(tube, rig)
    select(rig)
    bpy.ops.object.mode_set(mode="POSE")
    choose_bones(rig, "pole")
    with pytest.raises(
        RuntimeError, match=r"Only control bones of 'Rig' are selected|all its unlocked bones"
    ):
        bpy.ops.object.araplbs_auto_weight(only_selected_bones=True)
    assert len(tube.vertex_groups) == 0


def test_taken_in_and_left_out_again(arm):
    tube, rig = arm
    auto_weight(tube, rig)
    select(rig)
    assert bpy.ops.object.araplbs_take_in(bone="copy") == {"FINISHED"}
    assert rig.data.bones["copy"].araplbs_deforms
    auto_weight(tube, rig)
    assert "copy" in weighted(tube)
    assert marks(rig) == {"root": "ROOT", "pole": "OUTSIDE"}
    select(rig)
    bpy.ops.object.araplbs_take_in(bone="copy", take_in=False)
    auto_weight(tube, rig)
    assert marks(rig) == CONTROLS and "copy" not in weighted(tube)


def test_deform_off(arm):
    tube, rig = arm
    auto_weight(tube, rig)
    select(tube, active=tube)
    assert bpy.ops.object.araplbs_deform_off(bone="pole") == {"FINISHED"}
    assert not rig.data.bones["pole"].use_deform and rig.data.bones["copy"].use_deform
    assert bpy.ops.object.araplbs_deform_off() == {"FINISHED"}
    assert {b.name for b in rig.data.bones if b.use_deform} == set(ARM)
    with pytest.raises(RuntimeError, match="No control bone was left out"):
        bpy.ops.object.araplbs_take_in()


def test_operators_refuse():
    with pytest.raises(RuntimeError, match="is not an armature and has none"):
        bpy.ops.object.araplbs_take_in()
    rig = add_armature()
    select(rig)
    with pytest.raises(RuntimeError, match="There is no bone 'nobody'"):
        bpy.ops.object.araplbs_deform_off(bone="nobody")
    bpy.ops.object.mode_set(mode="EDIT")
    with pytest.raises(RuntimeError, match="Not in Edit mode"):
        bpy.ops.object.araplbs_deform_off(bone="lower")


def test_an_edit_takes_a_bone_in(arm):
    tube, rig = arm
    bind(tube, rig)
    tube.vertex_groups.new(name="pole")
    tube.data.vertices.foreach_set("select", np.arange(len(tube.data.vertices)) < 3)
    select(tube, active=tube)
    bpy.ops.object.araplbs_edit_vertices(kind="WEIGHT", bone="pole", weight=0.5)
    auto_weight(tube, rig)
    assert marks(rig) == {"root": "ROOT", "copy": "TWIN"}
    np.testing.assert_allclose(weights(tube, ["pole"])[:3], 0.5, atol=0.02)


def test_both_sides_are_told_alike():
    """If one of two mirrored poles is included, the other one stays as well."""
    bones = [
        ("root", (0, 0, -1), (0, 0.5, -1), None),
        ("lower", (0, 0, 0.05), (0, 0, 1.5), "root"),
        ("upper", (0, 0, 1.5), (0, 0, 2.95), "lower"),
        ("pole.L", (1.5, 0, 1), (2, 0, 1), "root"),
        ("pole.R", (-1.5, 0, 1), (-2, 0, 1), "root"),
    ]
    tube, rig = add_tube(), add_armature(bones=bones)
    auto_weight(tube, rig)
    assert marks(rig) == {"root": "ROOT", "pole.L": "OUTSIDE", "pole.R": "OUTSIDE"}


def test_present_weights_of_control_bones(arm):
    """A refinement starts from the weights of the other bones, and from the nearest bone for
    vertices without weights."""
    tube, rig = arm
    bind(tube, rig)
    for name in (*ARM, "pole"):
        tube.vertex_groups.new(name=name)
    count = len(tube.data.vertices)
    tube.vertex_groups["pole"].add(range(count), 0.5, "REPLACE")
    for v in tube.data.vertices:
        if v.index > 5:
            tube.vertex_groups[ARM[min(2, int(v.co.z))]].add([v.index], 0.5, "REPLACE")
    assert auto_weight(tube, rig, start_from="PRESENT") == {"FINISHED"}
    assert weighted(tube) == set(ARM)
    assert_sums(tube, rig)


def test_live_session(arm):
    tube, rig = arm
    bind(tube, rig)
    tube.vertex_groups.new(name="copy").add([0, 1], 0.5, "REPLACE")
    select(tube, rig, active=rig)
    assert bpy.ops.object.araplbs_refine_weights() == {"FINISHED"}
    assert weighted(tube) == set(ARM) and marks(rig) == CONTROLS


def test_joints(arm):
    tube, rig = arm
    select(tube, rig, active=rig)
    before = {b.name: tuple(b.head_local) for b in rig.data.bones}
    assert bpy.ops.object.araplbs_joints() == {"FINISHED"}
    assert marks(rig) == CONTROLS
    after = {b.name: tuple(b.head_local) for b in rig.data.bones}
    assert after["pole"] == before["pole"] and after["root"] == before["root"]
    np.testing.assert_allclose(after["copy"], after["upper"], atol=1e-6)


def test_panel_lists_them(arm):
    """The list appears while a bone is excluded."""
    tube, rig = arm
    auto_weight(tube, rig)
    panel = addon("panels.bones_panel")
    select(rig)
    assert panel.has_control_bones(rig)
    bpy.ops.object.araplbs_deform_off()
    assert not panel.has_control_bones(rig) and not panel.has_control_bones(None)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        *((name, True) for name in ("handIK.l", "IK-foot.l", "control-toe-roll.r", "Root")),
        *((name, True) for name in ("handslot.l", "PoleTarget.R", "_rootJoint", "ctrl_hand")),
        *((name, True) for name in ("MCH-spine", "ik_foot_root", "b_Root_00", "kneeIK.l")),
        *((name, False) for name in ("Spike", "hair_root", "forearm.L", "Bone", "liquid", "neck")),
        *((name, False) for name in ("slotted", "polearm", "index_04_leaf_l", "", "007", "tail")),
    ],
)
def test_names(name, expected):
    assert package("skeleton.bone_names").is_control_name(name) is expected
