"""The command line on shared meshes, on meshes in Edit mode, and with blocked drivers."""

import json

import bpy
import numpy as np
import pytest
from command import opened, run, save
from mathutils import Matrix
from scenes import (
    add_armature,
    add_object,
    add_tube,
    addon,
    assert_good,
    bind,
    deform_names,
    weights,
)


def solved(path, out, *arguments):
    assert run("weight", path, "-o", out, *arguments) == 0
    objects = opened(out)
    return weights(objects["Tube"], deform_names(objects["Rig"]))


def share(rig=None, place=(5, 0, 0), mesh_shift=(0, 0, 0)):
    """Adds a second object with the tube's mesh under a second rig, which has its own bones or
    shares those of the first rig."""
    first = add_armature()
    tube = add_tube()
    bind(tube, first)
    if rig == "same":
        other = first
    elif rig == "linked":
        other = add_object("Other", first.data, Matrix.Translation(place))
    else:
        bones = [
            ("lower", (0, 0, 0.05), (0, 0, 2.4), None),
            ("upper", (0, 0, 2.4), (0, 0, 3), "lower"),
        ]
        other = add_armature("Other", bones, Matrix.Translation(place))
    twin = add_object("Twin", tube.data, other.matrix_world @ Matrix.Translation(mesh_shift))
    bind(twin, other)
    return tube, twin


@pytest.mark.parametrize(
    ("rig", "shift"), [("own", (0, 0, 0)), ("linked", (0, 0, 0.4)), ("same", (0, 0.4, 0))]
)
def test_shared_mesh_is_refused(rig, shift, tmp_path, capfd):
    """If the weights for one rig would not fit the other, the command refuses before it solves
    anything."""
    share(rig, mesh_shift=shift)
    path, out = save(tmp_path / "in.blend"), tmp_path / "out.blend"
    assert run("weight", path, "-o", out) == 1
    printed = capfd.readouterr()
    under = "Rig" if rig == "same" else "Other"
    pair = {f"'Twin' under '{under}'", "'Tube' under 'Rig'"}
    assert all(name in printed.err for name in pair) and "single-user" in printed.err
    assert "%" not in printed.out, "solved for nothing"
    assert not out.exists()


def test_one_of_those_that_share_a_mesh(tmp_path, capfd):
    """The named object gets correct weights, and the other is mentioned."""
    share("own")
    path, out = save(tmp_path / "in.blend"), tmp_path / "out.blend"
    report = tmp_path / "report.json"
    for arguments, other in (
        (("--armature", "Rig"), "'Twin' under 'Other'"),
        (("--mesh", "Twin"), "'Tube' under 'Rig'"),
    ):
        assert run("weight", path, "-o", out, "--json", report, *arguments) == 0
        (entry,) = json.loads(report.read_text())["files"][0]["armatures"]
        assert entry["warnings"][0].startswith(f"{other} shares the mesh of")
        assert f"warning: {other} shares the mesh of" in capfd.readouterr().out
        objects = opened(out)
        pair = ("Tube", "Rig") if arguments[1] == "Rig" else ("Twin", "Other")
        assert_good(*(objects[name] for name in pair))


def test_linked_duplicates(tmp_path, capfd):
    """The duplicates of a character share its weights, which fit all of them."""
    share("linked")
    path, out = save(tmp_path / "in.blend"), tmp_path / "out.blend"
    both = solved(path, out)
    assert (
        "'Twin' under 'Other' shares the mesh of 'Tube' and its weights" in capfd.readouterr().out
    )
    bpy.data.objects.remove(bpy.data.objects["Twin"])
    path = save(tmp_path / "alone.blend")
    assert np.array_equal(solved(path, out), both)


@pytest.mark.parametrize("which", ["mesh", "meshes", "armature", "keys"])
def test_saved_in_edit_mode(which, tmp_path):
    """The mesh is weighted as in Object mode, and saved in its former mode."""
    rig, tube = add_armature(), add_tube()
    bind(tube, rig)
    add_tube("Second", shift=(3, 0, 0))
    if which == "keys":
        tube.shape_key_add(name="Basis")
        tube.shape_key_add(name="Smile").data[0].co.x += 1
        tube.active_shape_key_index = 1
    path = tmp_path / "in.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    expected = solved(path, tmp_path / "out.blend")

    opened(path)
    objects, layer = bpy.data.objects, bpy.context.view_layer
    inside = {"armature": ["Rig"], "meshes": ["Tube", "Second"]}.get(which, ["Tube"])
    for ob in layer.objects:
        ob.select_set(ob.name in inside)
    layer.objects.active = objects[inside[0]]
    bpy.ops.object.mode_set(mode="EDIT")
    if which != "armature":
        for ob in (objects[name] for name in inside):
            ob.select_set(ob.name != "Tube")
    state = _state()
    assert {ob.name for ob in objects if ob.mode == "EDIT"} == set(inside)
    path = save(tmp_path / "edit.blend")
    found = solved(path, tmp_path / "out.blend")
    assert _state() == state
    bpy.ops.object.mode_set(mode="OBJECT")
    objects = bpy.data.objects
    assert np.array_equal(found, expected)
    assert np.array_equal(weights(objects["Tube"], deform_names(objects["Rig"])), expected)
    assert not objects["Second"].vertex_groups


def _state():
    layer = bpy.context.view_layer
    return layer.objects.active.name, {
        ob.name: (ob.mode, ob.select_get()) for ob in layer.objects if ob.name != "Second"
    }


def test_joints_of_an_armature_in_edit_mode(tmp_path):
    rig, tube = add_armature(), add_tube()
    bind(tube, rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    path, out = save(tmp_path / "in.blend"), tmp_path / "out.blend"
    assert run("joints", path, "-o", out) == 0
    objects = opened(out)
    assert objects["Rig"].mode == "EDIT" and bpy.context.mode == "EDIT_ARMATURE"
    assert_good(objects["Tube"], objects["Rig"])


def test_blocked_drivers_are_named(tmp_path, capfd):
    rig, tube = add_armature(), add_tube()
    bind(tube, rig)
    curve = rig.pose.bones["upper"].driver_add("location", 0)
    curve.driver.expression = "__import__('os').getpid() * 1e-9"
    plain = rig.pose.bones["upper"].driver_add("location", 1)
    plain.driver.expression = "frame * 0.0"
    path, out = save(tmp_path / "in.blend"), tmp_path / "out.blend"
    assert not bpy.context.preferences.filepaths.use_scripts_auto_execute
    capfd.readouterr()
    report = tmp_path / "report.json"
    assert run("weight", path, "-o", out, "--json", report) == 0
    (line,) = json.loads(report.read_text())["files"][0]["warnings"]
    assert line.startswith("scripted drivers were not run")
    lines = [line for line in capfd.readouterr().out.splitlines() if "scripted drivers" in line]
    assert len(lines) == 1 and lines[0].count("'Rig'") == 1
    assert "'Rig' pose.bones[\"upper\"].location" in lines[0]

    bpy.ops.wm.open_mainfile(filepath=str(path))
    rig = bpy.data.objects["Rig"]
    rig.pose.bones["upper"].driver_remove("location", 0)
    path = save(tmp_path / "without.blend")
    assert run("weight", path, "-o", out) == 0
    assert "scripted drivers" not in capfd.readouterr().out
    assert addon("blender.data.opened_file").blocked_drivers() == []
