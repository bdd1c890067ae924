"""Check Weights: the list of findings, and the selection that a click on a finding makes in each
mode."""

import bmesh
import bpy
import numpy as np
import pytest
from bpy.app import handlers
from flaws import (
    check,
    choose,
    flawed,
    found,
    index_of,
    kinds_found,
    remove,
    selected,
    shown,
    weighted,
)
from scenes import (
    add_armature,
    add_cube,
    add_mesh,
    add_tube,
    addon,
    auto_weight,
    bind,
    new_scene,
    select,
    snapshot,
    tube_and_rig,
    tube_arrays,
)

FLAWS = ("UNWEIGHTED", "UNNORMALIZED", "SPECKLE")


def test_list(capfd):
    _tube, _rig, places = flawed(*FLAWS)
    before = snapshot()
    assert check() == {"FINISHED"}
    assert snapshot() == before
    assert set(FLAWS) <= set(kinds_found())
    assert len(shown().findings) == len(found().findings) and shown().active == -1
    told = capfd.readouterr().out
    assert f"{len(found().findings)} findings: " in told
    for kind in FLAWS:
        finding = found().findings[index_of(kind)]
        assert set(places[kind]) <= set(finding.vertices.tolist()), kind
    severities = [finding.severity for finding in found().findings]
    assert severities == sorted(severities, reverse=True)


def test_good_weights():
    tube, rig = weighted()
    select(tube, rig)
    check()
    assert not {"UNWEIGHTED", "UNNORMALIZED", "SPECKLE", "INFLUENCES"} & set(kinds_found())


@pytest.mark.parametrize("mode", ["OBJECT", "WEIGHT_PAINT", "EDIT", "POSE"])
def test_click(mode):
    """The mode stays, and the rig stays selected, so Check Weights finds the same problems
    again."""
    tube, rig, places = flawed("UNWEIGHTED")
    check()
    active = rig if mode in ("OBJECT", "POSE") else tube
    select(active)
    bpy.ops.object.mode_set(mode=mode)
    if mode == "EDIT":
        bpy.ops.mesh.select_all(action="SELECT")
    choose("UNWEIGHTED")
    assert active.mode == mode and bpy.context.active_object == (rig if mode == "POSE" else tube)
    assert tube.data.use_paint_mask_vertex == (mode == "WEIGHT_PAINT")
    assert rig.select_get() or active == tube
    if mode == "EDIT":
        edited = bmesh.from_edit_mesh(tube.data)
        assert [v.index for v in edited.verts if v.select] == places["UNWEIGHTED"]
        bpy.ops.object.mode_set(mode="OBJECT")
    assert selected(tube) == places["UNWEIGHTED"]


def test_bone_becomes_the_active_one():
    tube, rig, _places = flawed("SPECKLE")
    check()
    finding = found().findings[index_of("SPECKLE")]
    if finding.bone < 0:
        found().findings[index_of("SPECKLE")].bone = found().list.bones.index("middle")
    bone = found().bone(finding)
    choose("SPECKLE")
    assert tube.vertex_groups.active.name == bone == rig.data.bones.active.name


@pytest.mark.parametrize("mode", ["WEIGHT_PAINT", "EDIT"])
def test_click_goes_to_the_other_mesh(mode):
    tube, rig, places = flawed("UNWEIGHTED")
    other = add_tube("Other", shift=(2, 0, 0))
    bind(other, rig)
    auto_weight(other, rig)
    select(tube, other, rig)
    check()
    select(other)
    bpy.ops.object.mode_set(mode=mode)
    choose("UNWEIGHTED")
    assert bpy.context.active_object == tube and tube.mode == mode
    tube.update_from_editmode()
    assert selected(tube) == places["UNWEIGHTED"]


def test_check_in_edit_mode_sees_what_is_edited():
    tube, _rig = weighted()
    select(tube)
    bpy.ops.object.mode_set(mode="EDIT")
    edited = bmesh.from_edit_mesh(tube.data)
    layer = edited.verts.layers.deform.active
    for vertex in edited.verts:
        if abs(vertex.co.z - 1.0) < 0.2:
            vertex[layer].clear()
    assert check() == {"FINISHED"} and bpy.context.mode == "EDIT_MESH"
    assert "UNWEIGHTED" in kinds_found()


def test_paint_mask_hides_nothing_from_the_check():
    tube, _rig, _places = flawed("UNWEIGHTED")
    select(tube)
    bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
    tube.data.use_paint_mask_vertex = True
    addon("blender.write.select_region").select_vertices(tube.data, [])
    assert check() == {"FINISHED"} and "UNWEIGHTED" in kinds_found()


def test_out_of_date_when_weights_change():
    tube, rig, _places = flawed("UNWEIGHTED")
    check()
    tube.vertex_groups["lower"].add([0], 0.3, "REPLACE")
    found().look()
    assert found().out_of_date == ["Tube"]
    check()
    assert found().out_of_date == []
    rig.data.bones["lower"].use_deform = False
    found().look()
    assert found().out_of_date == ["Rig"]


def test_selection_does_not_put_it_out_of_date():
    _tube, _rig, _places = flawed("UNWEIGHTED", "SPECKLE")
    check()
    for kind in ("UNWEIGHTED", "SPECKLE"):
        choose(kind)
    found().look()
    assert found().out_of_date == []


def test_vertices_that_are_gone(capfd):
    tube, _rig, _places = flawed("UNWEIGHTED")
    check()
    select(tube)
    bpy.ops.object.mode_set(mode="EDIT")
    edited = bmesh.from_edit_mesh(tube.data)
    bmesh.ops.delete(edited, geom=[v for v in edited.verts if v.co.z > 2.5], context="VERTS")
    bmesh.update_edit_mesh(tube.data)
    bpy.ops.object.mode_set(mode="OBJECT")
    before = selected(tube)
    choose("UNWEIGHTED")
    assert "'Tube' has changed since it was read" in capfd.readouterr().out
    assert selected(tube) == before
    bpy.data.objects.remove(tube)
    with pytest.raises(RuntimeError, match="'Tube' was deleted after it was read"):
        bpy.ops.object.araplbs_select_finding(index=0)


def test_hidden_mesh():
    tube, _rig, _places = flawed("UNWEIGHTED")
    check()
    tube.hide_set(True)
    with pytest.raises(RuntimeError, match="'Tube' is hidden"):
        bpy.ops.object.araplbs_select_finding(index=0)


def test_no_such_finding():
    with pytest.raises(RuntimeError, match="There are no findings: Check Weights first"):
        bpy.ops.object.araplbs_select_finding(index=0)
    flawed("UNWEIGHTED")
    check()
    with pytest.raises(RuntimeError, match="Choose a finding in the list"):
        bpy.ops.object.araplbs_select_finding()
    with pytest.raises(RuntimeError, match="There is no finding 999"):
        bpy.ops.object.araplbs_select_finding(index=999)


def test_poll():
    with pytest.raises(RuntimeError, match="Select at least one mesh object"):
        check()
    select(add_cube("Cube", (0, 0, 0)))
    with pytest.raises(RuntimeError, match="Also select an armature"):
        check()
    bpy.ops.object.mode_set(mode="SCULPT")
    with pytest.raises(
        RuntimeError, match="Available only in Object, Pose, Edit and Weight Paint modes"
    ):
        check()


def test_another_file_has_no_findings():
    flawed("UNWEIGHTED")
    check()
    new_scene()
    assert not found().checked and not shown().findings


def test_no_part_of_the_file(tmp_path):
    """The list is not written to the file, and is available again afterwards."""
    _tube, _rig, _places = flawed(*FLAWS)
    check()
    index = choose("SPECKLE")
    shown().findings[index].repair = False
    words = [finding.words for finding in found().findings]
    path = tmp_path / "a.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=False, copy=True)
    content = path.read_bytes()
    for finding in shown().findings:
        assert finding.name.encode() not in content
    assert b"UNWEIGHTED" not in content
    assert shown().active == index and not shown().findings[index].repair
    assert [finding.words for finding in found().findings] == words
    assert len(shown().findings) == len(words)


def test_bones_that_were_left_out_are_not_idle():
    """A bone that Auto-weight leaves out is not idle, even if it has weights."""
    bones = [
        ("root", (0, 0, -1), (0.5, 0, -1), None),
        ("lower", (0, 0, 0.05), (0, 0, 1), "root"),
        ("upper", (0, 0, 1), (0, 0, 2.95), "lower"),
    ]
    tube, rig = add_tube(), add_armature(bones=bones)
    assert auto_weight(tube, rig) == {"FINISHED"}
    root = rig.data.bones["root"]
    assert root.araplbs_control == "ROOT"
    select(tube, rig)

    def idle():
        assert check() == {"FINISHED"}
        return {found().list.bones[f.bone] for f in found().findings if f.kind == "IDLE_BONE"}

    assert "root" not in idle()
    root.araplbs_deforms = True
    assert "root" in idle()


def test_findings_are_monitored_only_while_there_are_any():
    """Handlers that run at every update cost time in every scene."""
    module = addon("features.check.findings_list")

    def monitored():
        names = ("depsgraph_update_post", "undo_post", "redo_post")
        return [
            any(handler.__module__ == module.__name__ for handler in getattr(handlers, name))
            for name in names
        ]

    tube, rig = tube_and_rig()
    auto_weight(tube, rig)
    assert monitored() == [False] * 3
    select(tube, rig)
    bpy.ops.object.araplbs_check()
    assert monitored() == [True] * 3
    module._forget()  # as when another file is opened
    assert monitored() == [False] * 3


def test_a_double_shell_is_named_with_how_far_it_opens():
    """A tube with a second skin below the first; test_shells.py tests all faults of generated
    meshes."""
    vertices, faces = tube_arrays(rings=31, sides=16)
    middle, first = np.array([0, 0, 1.5]), len(vertices)
    below = middle + (vertices - middle) * (1 - 0.01 / np.array([0.3, 0.3, 1.5]))
    inner = [tuple(first + v for v in face[::-1]) for face in faces]
    tube, rig = add_mesh("Tube", np.vstack([vertices, below]), [*faces, *inner]), add_armature()
    auto_weight(tube, rig)
    remove(tube, range(first, 2 * first))
    tube.vertex_groups["lower"].add(range(first, 2 * first), 1.0, "REPLACE")
    select(tube, rig)
    check()
    (words,) = [finding.words for finding in found().findings if finding.kind == "DOUBLE_SHELL"]
    assert "opens by up to" in words
