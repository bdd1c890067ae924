"""araplbs.blender.bind() and python -m araplbs.blender: scripts get the same weights as the button,
with or without the extension, and without a selection, a mode or a window."""

import importlib
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import araplbs
import bpy
import numpy as np
import pytest
from araplbs.blender import bind
from command import needs_executable, opened, run, save
from patience import HANGS
from scenes import (
    add_armature,
    add_object,
    add_tube,
    addon,
    auto_weight,
    deform_names,
    entries,
    select,
    snapshot,
    tube_and_rig,
    two_sided_bones,
    weights,
)

SITE = str(Path(araplbs.__file__).parents[1])  # the wheel's place
as_module = pytest.mark.skipif(bool(bpy.app.binary_path), reason="Blender as the module bpy only")


def pair():
    return add_tube(), add_armature()


def test_the_weights_of_the_button():
    tube, rig = tube_and_rig()
    auto_weight(tube, rig)
    names = [group.name for group in tube.vertex_groups]
    expected = entries(tube)
    tube.vertex_groups.clear()
    bpy.ops.object.select_all(action="DESELECT")
    bpy.context.view_layer.objects.active = None
    report = bind([tube], rig)
    assert [group.name for group in tube.vertex_groups] == names
    assert entries(tube) == expected
    assert report["armature"] == "Rig" and report["vertices"] == 192
    assert report["warnings"] == [] and report["deformation"]["after"]["surface_strain"] > 0
    json.dumps(report)


def shaped():
    """A tube and an armature with a bone shape, as the glTF importer makes it."""
    tube, rig = tube_and_rig()
    shape = add_tube("Icosphere", radius=0.1, length=1.0)
    rig.pose.bones["middle"].custom_shape = shape
    return tube, shape, rig


REASON = "'Icosphere' is the custom shape of 'middle' in 'Rig'"


def test_custom_shapes_of_bones_are_no_skin():
    """All meshes of a file are given, as in the manual. The shape is left out, the report says so,
    and the weights are those without it."""
    tube, shape, rig = shaped()
    bind([tube], rig)
    expected = entries(tube)
    tube.vertex_groups.clear()
    report = bind([ob for ob in bpy.data.objects if ob.type == "MESH"], rig)
    assert report["warnings"] == [f"Skipped: {REASON}"] and entries(tube) == expected
    assert not shape.vertex_groups and not shape.modifiers and shape.parent is None
    with pytest.raises(araplbs.Refused, match=REASON):
        bind([shape], add_armature("Other"))


def test_custom_shapes_in_other_ways(tmp_path):
    """The button and the command line apply the same rule."""
    tube, shape, rig = shaped()
    auto_weight(tube, shape, rig)
    assert tube.vertex_groups and not shape.vertex_groups and not shape.modifiers
    modifier = shape.modifiers.new("Armature", "ARMATURE")
    modifier.object = rig
    save(tmp_path / "in.blend")
    assert run("weight", tmp_path / "in.blend", "-o", tmp_path / "out.blend") == 0
    assert not opened(tmp_path / "out.blend")["Icosphere"].vertex_groups


@pytest.mark.parametrize(
    "options",
    [
        {"swing": 0.5},
        {"swing": math.radians(28.6)},
        {"bone_spring_stiffness": 7.3},
        {"min_gain": 0.0123},
    ],
)
def test_settings_of_the_button_as_they_were_typed(options):
    """The button's properties use single precision and scripts use double precision. The results
    are bit-identical."""
    tube, rig = tube_and_rig()
    auto_weight(tube, rig, **options)
    expected = entries(tube)
    tube.vertex_groups.clear()
    bind(tube, rig, **options)
    assert entries(tube) == expected


def test_hidden_objects():
    """Blender does not update the matrices of hidden objects, so they are computed."""
    (tube, rig), names = tube_and_rig(), ["lower", "middle", "upper"]
    bind(tube, rig)
    expected = weights(tube, names)
    tube.vertex_groups.clear()
    tube.hide_viewport = rig.hide_viewport = True
    bind(tube, rig)
    assert np.abs(weights(tube, names) - expected).max() < 1e-6


def test_several_meshes_at_once_in_any_mode():
    rig = add_armature(bones=two_sided_bones())
    tubes = [add_tube(name, length=1.0, rings=9, sides=6) for name in ("A", "B")]
    select(rig)
    bpy.ops.object.mode_set(mode="POSE")
    report = bind(tubes, rig)
    assert [each["name"] for each in report["objects"]] == ["A", "B"]
    assert bpy.context.mode == "POSE"
    for tube in tubes:
        assert np.abs(weights(tube, deform_names(rig)).sum(1) - 1).max() < 1e-6


def test_options_and_presets():
    tube, rig = pair()
    report = bind(tube, rig, preset="game-8", crispness=0.01, random_poses=20)
    used = report["options"]
    assert used["max_influences"] == 8 and used["min_gain"] == 0.01 and used["pose_count"] == 20
    assert bind(tube, rig, preset="Unity", max_influences=2)["options"]["max_influences"] == 2


def test_only_new():
    tube, rig = tube_and_rig()
    bind(tube, rig)
    before = entries(tube)
    new = [v.index for v in tube.data.vertices if v.co.z > 2.5]
    for group in tube.vertex_groups:
        group.remove(new)
    assert bind(tube, rig, only_new=True)["new_vertices"] == len(new)
    after = entries(tube)
    assert all(after[k] == before[k] for k in range(len(before)) if k not in new)
    assert all(after[k] for k in new)


def other_type():
    tube, _rig = pair()
    return tube, tube


def light():
    _tube, rig = pair()
    return add_object("Lamp", bpy.data.lights.new("Lamp", "POINT")), rig


def name_of():
    _tube, rig = pair()
    return "Tube", rig


def nothing():
    return [], add_armature()


def elsewhere():
    tube, rig = pair()
    bpy.context.scene.collection.objects.unlink(tube)
    return tube, rig


def edited():
    tube, rig = pair()
    select(tube)
    bpy.ops.object.mode_set(mode="EDIT")
    return tube, rig


REFUSED = [
    (other_type, {}, TypeError, "armature is 'Tube', of type MESH: must be an armature object"),
    (light, {}, TypeError, "meshes contains 'Lamp', of type LIGHT: must contain only mesh objects"),
    (name_of, {}, TypeError, "meshes contains 'Tube': must contain only mesh objects"),
    (nothing, {}, araplbs.Refused, "meshes is empty: specify at least one mesh object"),
    (elsewhere, {}, araplbs.Refused, "'Tube' is not in the view layer"),
    (edited, {}, araplbs.Refused, "'Tube' is in Edit mode: exit Edit mode first"),
    (pair, {"max_influence": 4}, TypeError, "did you mean 'max_influences'"),
    (pair, {"swing": 60}, ValueError, "swing is 60 radians: must be from 0 to 3.14159 radians"),
    (pair, {"preset": "nintendo"}, araplbs.Refused, "no preset named nintendo: as-published"),
    (pair, {"only_new": True, "volume": "heavy"}, ValueError, "volume is 'heavy'"),
]


@pytest.mark.parametrize(("scene", "options", "kind", "words"), REFUSED)
def test_refused(scene, options, kind, words):
    meshes, rig = scene()
    before = snapshot()
    with pytest.raises(kind) as error:
        bind(meshes, rig, **options)
    assert words in str(error.value)
    assert snapshot() == before


def test_cancelled():
    tube, rig = pair()
    before = snapshot()
    with pytest.raises(araplbs.Cancelled):
        bind(tube, rig, progress=lambda *_said: False)
    assert snapshot() == before


def test_cancelled_while_reading():
    """The work before the solver is heard as well, at each of its reports."""
    tube, rig = pair()
    reports = []
    bind(tube, rig, progress=lambda *report: reports.append(report[0]))
    early = reports[: reports.index("mesh")]
    assert early[0] == "reading" and "control bones" in early
    tube, rig = pair()
    before = snapshot()
    for last in range(0, len(early), 5):
        count = iter(range(len(early)))
        with pytest.raises(araplbs.Cancelled):
            bind(tube, rig, progress=lambda *_said, n=count, last=last: next(n) < last)
        assert snapshot() == before


def test_removed_objects():
    tube, rig = pair()
    gone, no_rig = pair()
    for ob in (gone, no_rig):
        bpy.data.objects.remove(ob)
    before = snapshot()
    with pytest.raises(araplbs.Refused, match="One of the meshes is an object that was removed"):
        bind([tube, gone], rig)
    with pytest.raises(araplbs.Refused, match="The armature is an object that was removed"):
        bind(tube, no_rig)
    assert snapshot() == before


# Without the extension: the wheel's folder is on sys.path, and there are no user settings.
SCRIPT = """
import sys
sys.path.insert(0, {site!r})
import bpy
import araplbs.blender
assert not any(name.startswith("bl_ext.") for name in sys.modules if name.endswith(".araplbs"))
assert not hasattr(bpy.types.Mesh, "araplbs")
bpy.ops.wm.open_mainfile(filepath={source!r})
report = araplbs.blender.bind([bpy.data.objects["Tube"]], bpy.data.objects["Rig"])
assert not hasattr(bpy.types.Mesh, "araplbs")
bpy.ops.wm.save_as_mainfile(filepath={target!r})
print("DONE", report["vertices"], flush=True)
import os
os._exit(0)
"""


def alone(tmp_path, *words):
    """A process of this Blender in which no extension is installed."""
    environment = dict(os.environ, BLENDER_USER_RESOURCES=str(tmp_path / "nobody"))
    environment["PYTHONPATH"] = SITE
    done = subprocess.run(
        list(map(str, words)), capture_output=True, text=True, env=environment, timeout=HANGS
    )
    return done


def test_without_the_extension(tmp_path):
    """Corrections and control bones stored in the file are used, and stay."""
    tube, _rig = tube_and_rig()
    addon("blender.data.edits").add_rigid_part(tube.data, list(range(40)), "Boot")
    source, target = save(tmp_path / "in.blend"), tmp_path / "out.blend"
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(site=SITE, source=str(source), target=str(target)))
    start = [bpy.app.binary_path, "-b", "--factory-startup", "-P"]
    done = alone(tmp_path, *(start if bpy.app.binary_path else [sys.executable]), script)
    assert "DONE 192" in done.stdout, (done.stdout, done.stderr)
    tube = opened(target)["Tube"]
    found = entries(tube)
    assert [item.name for item in tube.data.araplbs.edits] == ["Rigid Part Boot"]
    assert all(row == found[0] for row in found[:40])
    tube = opened(source)["Tube"]
    bind(tube, bpy.data.objects["Rig"])
    assert entries(tube) == found


@pytest.mark.outside
@as_module
def test_command_of_the_module(tmp_path):
    """python -m araplbs.blender, in a folder that contains another araplbs."""
    tube_and_rig()
    source, out = save(tmp_path / "in.blend"), tmp_path / "out.blend"
    command = [sys.executable, "-P", "-m", "araplbs.blender"]
    done = alone(tmp_path, *command, "weight", source, "-o", out, "--json", "-")
    assert done.returncode == 0, done.stderr
    content = json.loads(done.stdout)
    assert content["schema"] == 1 and content["version"] == araplbs.__version__
    assert content["command"] == "weight" and content["files"][0]["output"] == str(out)
    found = entries(opened(out)["Tube"])
    assert run("weight", source, "-o", tmp_path / "second.blend") == 0
    assert entries(opened(tmp_path / "second.blend")["Tube"]) == found
    done = alone(tmp_path, *command, "weight", source, out, "-o", tmp_path / "two", "--jobs", 2)
    assert done.returncode == 0, done.stderr
    assert entries(opened(tmp_path / "two/in.blend")["Tube"]) == found
    done = alone(tmp_path, *command, "weight", source)
    assert done.returncode == 2 and "--output is missing" in done.stderr
    done = alone(tmp_path, *command)
    assert done.returncode == 0 and "python -m araplbs.blender weight in.blend" in done.stdout


@pytest.mark.outside
@as_module
def test_tool_of_an_assistant(tmp_path, monkeypatch):
    """The MCP server's tools accept .blend files if Blender is a module of this Python."""
    calls = importlib.import_module("araplbs.mcp.calls")
    tube_and_rig()
    source, out = save(tmp_path / "in.blend"), tmp_path / "out.blend"
    monkeypatch.setenv("PYTHONPATH", SITE)
    limits = calls.Limits(folder=str(tmp_path))
    done = calls.call(
        "weight", str(source), options={"max_influences": 2}, target=str(out), limits=limits
    )
    assert done["exit_code"] == 0 and done["messages"] == [], done
    whole = json.loads(Path(done["details"]).read_text("utf-8"))
    assert whole["files"][0]["armatures"][0]["options"]["max_influences"] == 2
    found = calls.call("check", str(out), ["--fail-on", "never"], limits=limits)
    assert found["exit_code"] == 0 and found["files"][0]["armatures"][0]["vertices"] == 192


@needs_executable
def test_where_there_is_no_blender(tmp_path):
    """In a Python without Blender, the error is one sentence."""
    code = (
        "import sys; sys.modules['bpy'] = None; from araplbs.blender import main; "
        "sys.exit(main(['weight']))"
    )
    done = alone(tmp_path, sys.executable, "-P", "-c", code)
    assert done.returncode == 1 and "This Python has no Blender" in done.stderr
