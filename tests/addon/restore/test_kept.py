"""This version reads all data that earlier versions wrote: edits, joint settings, weights,
settings, presets, reports and problem files."""

import json
import shutil
from pathlib import Path

import bpy
import numpy as np
import pytest
from scenes import addon, assert_good, auto_weight, package, select

KEPT = Path(__file__).parents[1] / "kept"


VERSIONS = ("0_1_0", "0_2_0", "0_3_0")
EDITS = [
    ("WEIGHT", "upper", True),
    ("INFLUENCE", "lower", False),
    ("RELEASE", "middle", True),
    ("LINK", "", True),
    ("LINK", "", True),
]


@pytest.fixture(params=VERSIONS)
def version(request):
    return request.param


@pytest.fixture
def scene(version):
    bpy.ops.wm.open_mainfile(filepath=str(KEPT / f"of_{version}.blend"))
    return bpy.data.objects["Tube"], bpy.data.objects["Rig"]


def upper(tube, vertices):
    index = tube.vertex_groups["upper"].index
    entries = [tube.data.vertices[v].groups for v in vertices]
    return [sum(e.weight for e in each if e.group == index) for each in entries]


def test_edits(scene, version):
    tube, rig = scene
    items = [(item.kind, item.bone, item.use) for item in tube.data.araplbs.edits]
    newer = [("RIGID", "", True), ("SMOOTH", "", True)] if version != "0_1_0" else []
    assert items == EDITS + newer
    names = [bone.name for bone in rig.data.bones]
    edits = addon("blender.data.edits").read_edits(tube.data, names)
    assert edits.constraints.vertices.tolist() == [3, 4, 5, 6]
    assert edits.constraints.values.tolist() == [0.25, 0.25, 0, 0]
    assert not len(edits.influences.vertices)
    assert edits.released.vertices.tolist() == [3, 4, 5]
    assert edits.links.tolist() == [[5, 6], [2, 9]]
    if version != "0_1_0":
        read = addon("blender.data.edits").read_values
        rigid, smooth = (read(tube.data, item) for item in list(tube.data.araplbs.edits)[5:])
        assert np.flatnonzero(rigid).tolist() == [100, 101, 102, 110, 111, 112]
        assert smooth[40:50].tolist() == [0.5] * 10 and smooth.sum() == 5


def test_joint_settings(scene):
    _tube, rig = scene
    bones = rig.data.bones
    assert bones["middle"].araplbs_joint.lock_head and not bones["lower"].araplbs_joint.lock_head
    assert bones["upper"].araplbs_joint.material == pytest.approx(4)


def test_weights_and_a_run(scene):
    """Weights pinned with the old version still apply in the same way."""
    tube, rig = scene
    np.testing.assert_allclose(upper(tube, [3, 4, 5, 6]), [0.25, 0.25, 0, 0], atol=2e-3)
    assert auto_weight(tube, rig) == {"FINISHED"}
    assert_good(tube, rig)
    np.testing.assert_allclose(upper(tube, [3, 4, 5, 6]), [0.25, 0.25, 0, 0], atol=2e-3)


@pytest.mark.parametrize("version", VERSIONS[1:], indirect=True)
def test_settings_in_the_scene(scene, version):
    settings = bpy.context.scene.araplbs
    assert settings.max_influences == 3 and not settings.symmetric
    assert settings.swing == pytest.approx(0.8) and settings.pose_count == 100
    if version == "0_3_0":
        assert settings.bone_spring_stiffness == 6 and settings.seed == 7
        assert settings.min_gain == pytest.approx(0.006)


@pytest.mark.parametrize("version", VERSIONS[1:], indirect=True)
def test_kept_weights(scene):
    """The weights of Keep Weights, stored with the armature, are restored."""
    tube, _rig = scene
    before = upper(tube, range(192))
    tube.vertex_groups.clear()
    select(tube)
    assert bpy.ops.object.araplbs_restore_weights("EXEC_DEFAULT") == {"FINISHED"}
    np.testing.assert_allclose(upper(tube, range(192)), before, atol=1e-3)


def test_preset(tmp_path):
    """Current options are set; Hold and Kept Sum no longer exist."""
    shutil.copy(KEPT / "preset_0_1_0.txt", tmp_path / "Film.py")
    settings = bpy.context.scene.araplbs
    settings.max_influences = 4
    load = bpy.ops.object.araplbs_load_preset
    assert load(filepath=str(tmp_path / "Film.py")) == {"FINISHED"}
    assert settings.max_influences == 0 and settings.symmetric
    settings.property_unset("max_influences")


@pytest.mark.parametrize("version, influences", [("0_2_0", 2), ("0_3_0", 3)])
def test_later_preset(version, influences, tmp_path):
    shutil.copy(KEPT / f"preset_{version}.txt", tmp_path / "Mine.py")
    settings = bpy.context.scene.araplbs
    settings.property_unset("bone_spring_stiffness")
    assert bpy.ops.object.araplbs_load_preset(filepath=str(tmp_path / "Mine.py")) == {"FINISHED"}
    assert settings.max_influences == influences and not settings.symmetric
    assert settings.bone_spring_stiffness == (6 if version == "0_3_0" else 16)


def test_report(tmp_path):
    """In a folder of reports, a report of an earlier version is a row of the table."""
    for version in VERSIONS:
        shutil.copy(KEPT / f"report_{version}.json", tmp_path)
    rows, bad = package("cli.batch.reports").read_reports(tmp_path)
    assert not bad and [row["armature"] for row in rows] == ["Rig"] * 3
    for version, row in zip(VERSIONS, rows, strict=True):
        assert row["file"] == f"of_{version}.blend" and row["vertices"] == 192
        report = json.loads((KEPT / f"report_{version}.json").read_text("utf-8"))
        written = report["files"][0]["armatures"][0]["deformation"]["after"]
        assert row["surface_strain"] == written["surface_strain"]


def test_a_report_of_0_1_0_is_not_replaced(tmp_path):
    """A report of version 0.1.0 contains no mark of its origin, so it is not replaced."""
    outputs, refusal = package("disk.outputs"), package("base.refusal")
    shutil.copy(KEPT / "report_0_1_0.json", tmp_path / "old.json")
    with pytest.raises(refusal.Refused, match="already exists"):
        outputs.refuse_foreign(tmp_path / "old.json", outputs.RESULTS)
