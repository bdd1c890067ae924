"""The option --if-worse on .blend files, and the information that scripts get about earlier
weights."""

import json

import bpy
import flaws
import numpy as np
import pytest
from command import opened, run, save
from scenes import (
    addon,
    auto_weight,
    deform_names,
    entries,
    package,
    select,
    tube_and_rig,
    weights,
)

WORSE = ("--firmness", 300, "--initial", "nearest")


@pytest.fixture
def good(tmp_path):
    """A file whose weights stretch the surface as little as possible."""
    tube, rig = tube_and_rig()
    auto_weight(tube, rig, bone_spring_stiffness=0)
    before = entries(tube)
    return save(tmp_path / "in.blend"), before


def report_of(path):
    return json.loads(path.read_text())["files"][0]["armatures"][0]


def test_reported(good, tmp_path, capfd):
    source, before = good
    out, path = tmp_path / "out.blend", tmp_path / "report.json"
    assert run("weight", source, "-o", out, "--json", path, *WORSE) == 0
    report = report_of(path)
    after, was = (
        report["deformation"]["after"]["surface_strain"],
        report["compared"]["file"]["surface_strain"],
    )
    assert report["compared"]["worse"] and after > was > 0 and "kept" not in report
    line = f"more than with the earlier weights: {100 * after:.1f} % instead of {100 * was:.1f} %"
    assert line in capfd.readouterr().out and any(line in each for each in report["warnings"])
    opened(out)
    assert entries(bpy.data.objects["Tube"]) != before


def test_fails(good, tmp_path):
    source, _before = good
    out = tmp_path / "out.blend"
    assert run("weight", source, "-o", out, "--if-worse", "fail", *WORSE) == 3
    assert out.exists(), "it is there to be looked at"
    again = tmp_path / "b.blend"
    assert run("weight", out, "-o", again, "--if-worse", "fail", "--firmness", 0) == 0


def test_kept(good, tmp_path, capfd):
    """The weights and everything else in the mesh are kept."""
    source, before = good
    out, path = tmp_path / "out.blend", tmp_path / "report.json"
    assert run("weight", source, "-o", out, "--json", path, "--if-worse", "keep", *WORSE) == 0
    assert report_of(path)["kept"] is True and "were kept" in capfd.readouterr().out
    opened(out)
    assert entries(bpy.data.objects["Tube"]) == before


def test_excludes_only_new(good, tmp_path, capfd):
    source, _before = good
    arguments = ("-o", tmp_path / "out.blend", "--only-new", "--if-worse", "keep")
    assert run("weight", source, *arguments) == 2
    assert "--only-new and --if-worse keep cannot be used together" in capfd.readouterr().err


def test_nothing_before(tmp_path, capfd):
    """Blender's heat is the reference, measured like weights in a file."""
    tube_and_rig()
    source, path = save(tmp_path / "in.blend"), tmp_path / "report.json"
    out = tmp_path / "out.blend"
    assert run("weight", source, "-o", out, "--json", path) == 0
    compared = report_of(path)["compared"]
    assert set(compared) == {"worse", "heat", "reaching"} and not compared["worse"]
    heat = compared["heat"]["surface_strain"]
    assert f"with Blender's bone heat {100 * heat:.1f} %" in capfd.readouterr().out
    opened(out)
    assert len(bpy.data.objects) == 2 and len(bpy.data.scenes) == 1, "nothing is left of it"
    opened(source)
    select(*(bpy.data.objects[name] for name in ("Tube", "Rig")))
    bpy.ops.object.parent_set(type="ARMATURE_AUTO")
    source = save(tmp_path / "heat.blend")
    assert run("weight", source, "-o", out, "--json", path) == 0
    compared = report_of(path)["compared"]
    assert "heat" not in compared
    assert compared["file"]["surface_strain"] == pytest.approx(heat, rel=1e-4)


def test_heat_that_fails(tmp_path, capfd, monkeypatch):
    """A message reports that heat failed, and the file is weighted."""
    tube_and_rig()
    refused = package("base.refusal").Refused

    def fails(*_arguments):
        raise refused("Bone Heat Weighting: failed to find solution")

    monkeypatch.setattr(addon("features.auto_weight.tasks"), "blender_weights_in_steps", fails)
    source, path = save(tmp_path / "in.blend"), tmp_path / "report.json"
    assert run("weight", source, "-o", tmp_path / "out.blend", "--json", path) == 0
    assert report_of(path)["compared"] == {"worse": False, "heat": None, "reaching": {}}
    assert "bone heat leaves vertices without weights" in capfd.readouterr().out


def test_the_same_weights_as_without_earlier_ones(tmp_path):
    """The earlier weights are only compared and have no effect on the new ones."""
    made = []
    for bone_spring_stiffness in (0, 300, None):
        tube, rig = tube_and_rig()
        if bone_spring_stiffness is not None:
            auto_weight(tube, rig, bone_spring_stiffness=bone_spring_stiffness)
        source, out = save(tmp_path / "in.blend"), tmp_path / f"out{bone_spring_stiffness}.blend"
        assert run("weight", source, "-o", out) == 0
        opened(out)
        made.append(weights(bpy.data.objects["Tube"], deform_names(bpy.data.objects["Rig"])))
        bpy.ops.wm.read_homefile(use_empty=True)
    np.testing.assert_array_equal(made[0], made[1])
    np.testing.assert_array_equal(made[0], made[2])


def test_bind_compares(good):
    opened(good[0])
    tube, rig = bpy.data.objects["Tube"], bpy.data.objects["Rig"]
    report = package("blender").bind([tube], rig, firmness=300, initial="NEAREST")
    assert report["compared"]["worse"] and "file" in report["compared"]
    assert any("earlier weights" in str(each) for each in report["warnings"])


def test_lost_bones_are_named(tmp_path, capfd):
    """A bone in a different place has skin in the file and loses it."""
    tube, _rig = flaws.skin_of_another_bone()
    before, source, path = entries(tube), save(tmp_path / "in.blend"), tmp_path / "report.json"
    out = tmp_path / "out.blend"
    assert run("weight", source, "-o", out, "--json", path, "--if-worse", "keep") == 0
    report = report_of(path)
    assert report["compared"]["lost"] == ["prop"] and report["kept"]
    assert "1 bone has lost its skin: prop" in capfd.readouterr().out
    opened(out)
    assert entries(bpy.data.objects["Tube"]) == before
