"""The command for joints on the command line."""

import json

import bpy
from joint_scenes import bent_tube, off_axis
from scenes import (
    addon,
    assert_good,
)


def test_command(tmp_path):
    _tube, rig = bent_tube()
    source, target, page = (str(tmp_path / n) for n in ("in.blend", "out.blend", "report.json"))
    bpy.ops.wm.save_as_mainfile(filepath=source)
    was = off_axis(rig, "middle")
    arguments = ["joints", source, "-o", target, "--json", page, "--anchor", "0"]
    assert addon("cli").run(arguments) == 0
    bpy.ops.wm.open_mainfile(filepath=target)
    rig = bpy.data.objects["Rig"]
    assert off_axis(rig, "middle") < 0.5 * was
    assert_good(bpy.data.objects["Tube"], rig)
    with open(page) as file:
        (armature,) = json.load(file)["files"][0]["armatures"]
    assert armature["energy_after"] < armature["energy_before"]
    assert armature["weights"]["objects"][0]["name"] == "Tube"
    assert 0 < armature["mean_move"] <= armature["largest_move"] < 0.2
