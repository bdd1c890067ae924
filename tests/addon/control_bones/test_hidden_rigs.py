"""Rigs that are hidden, disabled, or in a hidden or excluded collection. Operators and commands
treat such rigs like visible ones. In an excluded collection, operators that write bones refuse with
a reason and write nothing."""

import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import bpy
import numpy as np
import pytest
from command import opened, run, save
from deep import deep_snapshot, difference
from scenes import entries, new_scene, select
from test_guard import call, clothed, edited_pair, flawed_tube, moved, new_pair, weighted_pair


def hide(rig):
    rig.hide_set(True)


def disable(rig):
    rig.hide_viewport = True


def hide_collection(rig):
    to_collection(rig)
    bpy.data.collections["Rigs"].hide_viewport = True


def exclude_collection(rig):
    to_collection(rig)
    bpy.context.view_layer.layer_collection.children["Rigs"].exclude = True


def to_collection(rig):
    collection = bpy.data.collections.new("Rigs")
    bpy.context.scene.collection.children.link(collection)
    collection.objects.link(rig)
    bpy.context.scene.collection.objects.unlink(rig)


PLACES = [hide, disable, hide_collection, exclude_collection]
NOT_THERE = "'Rig' is not in the active view layer"


def meshes_of(scene):
    """The scene, with its meshes selected and the armature not."""
    scene()
    rig = bpy.data.objects["Rig"]
    if bpy.context.mode == "OBJECT":
        active = bpy.context.view_layer.objects.active
        chosen = [ob for ob in bpy.context.selected_objects if ob.type == "MESH"]
        select(*chosen, active=active if active in chosen else chosen[-1])
    bpy.context.view_layer.update()
    return rig


# operator: (scene, options, whether it writes bones)
OPERATORS = {
    "auto_weight": (weighted_pair, {}, False),
    "refine_weights": (weighted_pair, {}, False),
    "joints": (weighted_pair, {"pose_count": 40}, True),
    "new_vertices": (new_pair, {}, False),
    "new_vertices in Edit mode": (edited_pair, {}, False),
    "quantize": (weighted_pair, {}, False),
    "transfer": (clothed, {}, False),
    "check": (flawed_tube, {}, False),
    "repair": (flawed_tube, {}, False),
    "bake": (moved, {"poses": "SCENE"}, False),
    "bake with new bones": (moved, {"poses": "SCENE", "new_bones": 2}, True),
    "select_worst": (weighted_pair, {}, False),
}


def state():
    """The data that operators change: weights, selection, bones."""
    found = {ob.name: entries(ob) for ob in bpy.data.objects if ob.type == "MESH"}
    for rig in bpy.data.armatures:
        found[rig.name] = [
            (bone.name, *np.round([*bone.head_local, *bone.tail_local], 6)) for bone in rig.bones
        ]
    return found


def seen(operator, cache={}):  # noqa: B006
    """The resulting state if everything is visible."""
    if operator not in cache:
        scene, options, _bones = OPERATORS[operator]
        meshes_of(scene)
        assert call(operator, options) == {"FINISHED"}
        cache[operator] = state()
        new_scene()
    return cache[operator]


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("operator", OPERATORS)
def test_operator(operator, place):
    expected = seen(operator)
    scene, options, writes_bones = OPERATORS[operator]
    place(meshes_of(scene))
    bpy.context.view_layer.update()
    before = deep_snapshot()
    if writes_bones and place == exclude_collection:
        with pytest.raises(RuntimeError, match=NOT_THERE):
            call(operator, options)
        assert difference(before, deep_snapshot()) == {}
        return
    assert call(operator, options) == {"FINISHED"}
    found = state()
    assert found.keys() == expected.keys()
    for name in found:
        assert found[name] == expected[name], name
    shown = "Object 'Rig'.hide_viewport", " hidden"
    assert not [path for path in difference(before, deep_snapshot()) if path.endswith(shown)]


# command: (scene, arguments)
COMMANDS = {
    "weight": (weighted_pair, ["--pose-count", 20]),
    "weight --only-new": (new_pair, ["--only-new"]),
    "transfer": (clothed, ["--source", "Tube", "--target", "Inner", "--target", "Outer"]),
    "quantize": (weighted_pair, []),
    "repair": (flawed_tube, []),
    "bake": (moved, ["--poses", "scene"]),
    "check": (flawed_tube, ["--fail-on", "never"]),
}


def commanded(folder, command, place=None):
    """The state of the output, or the output of `check`."""
    scene, arguments = COMMANDS[command]
    new_scene()
    rig = meshes_of(scene)
    if bpy.context.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    if place:
        place(rig)
    source, out, report = (folder / name for name in ("in.blend", "out.blend", "report.json"))
    save(source)
    output = [] if command == "check" else ["-o", out]
    assert run(command.split()[0], source, *output, "--json", report, *arguments) == 0
    if output:
        opened(out)
        return state()
    (entry,) = json.loads(report.read_text())["files"][0]["armatures"]
    return entry["findings"]


@cache
def seen_by_command(command):
    with TemporaryDirectory() as folder:
        return commanded(Path(folder), command)


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("command", COMMANDS)
def test_command(command, place, tmp_path):
    expected = seen_by_command(command)
    assert commanded(tmp_path, command, place) == expected


@pytest.mark.parametrize("place", PLACES)
def test_joints_by_command(place, tmp_path, capfd):
    rig = meshes_of(weighted_pair)
    place(rig)
    source, out = save(tmp_path / "in.blend"), tmp_path / "out.blend"
    code = run("joints", source, "-o", out, "--pose-count", 10)
    assert code == (place == exclude_collection) and out.exists() != code
    assert (NOT_THERE in capfd.readouterr().err) == code
