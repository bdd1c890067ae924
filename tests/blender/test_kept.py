"""What version 0.1.0 has written is read by this one: edits, joint settings, weights, presets and
reports."""

import json
import shutil
from pathlib import Path

import bpy
import numpy as np
import pytest
from scenes import addon, assert_good, auto_weight

KEPT = Path(__file__).parent / "kept"


@pytest.fixture
def scene():
    bpy.ops.wm.open_mainfile(filepath=str(KEPT / "of_0_1_0.blend"))
    return bpy.data.objects["Tube"], bpy.data.objects["Rig"]


def upper(tube, vertices):
    index = tube.vertex_groups["upper"].index
    entries = [tube.data.vertices[v].groups for v in vertices]
    return [sum(e.weight for e in each if e.group == index) for each in entries]


def test_edits(scene):
    tube, rig = scene
    items = [(item.kind, item.bone, item.use) for item in tube.data.araplbs.edits]
    assert items == [
        ("WEIGHT", "upper", True),
        ("INFLUENCE", "lower", False),
        ("RELEASE", "middle", True),
        ("LINK", "", True),
        ("LINK", "", True),
    ]
    names = [bone.name for bone in rig.data.bones]
    edits = addon("blender.data.edits").read_edits(tube.data, names)
    assert edits.constraints.vertices.tolist() == [3, 4, 5, 6]
    assert edits.constraints.values.tolist() == [0.25, 0.25, 0, 0]
    assert not len(edits.influences.vertices)
    assert edits.released.vertices.tolist() == [3, 4, 5]
    assert edits.links.tolist() == [[5, 6], [2, 9]]


def test_joint_settings(scene):
    _tube, rig = scene
    bones = rig.data.bones
    assert bones["middle"].araplbs_joint.lock_head and not bones["lower"].araplbs_joint.lock_head
    assert bones["upper"].araplbs_joint.material == pytest.approx(4)


def test_weights_and_a_run(scene):
    """The pinned weights of then hold now as they did then."""
    tube, rig = scene
    np.testing.assert_allclose(upper(tube, [3, 4, 5, 6]), [0.25, 0.25, 0, 0], atol=2e-3)
    assert auto_weight(tube, rig) == {"FINISHED"}
    assert_good(tube, rig)
    np.testing.assert_allclose(upper(tube, [3, 4, 5, 6]), [0.25, 0.25, 0, 0], atol=2e-3)


def test_preset(tmp_path):
    """What is still an option is set; Hold and Kept Sum are gone."""
    shutil.copy(KEPT / "film_0_1_0.txt", tmp_path / "Film.py")
    settings = bpy.context.scene.araplbs
    settings.max_influences = 4
    load = bpy.ops.object.araplbs_load_preset
    assert load(filepath=str(tmp_path / "Film.py")) == {"FINISHED"}
    assert settings.max_influences == 0 and settings.symmetric
    settings.property_unset("max_influences")


def test_report(tmp_path):
    """In a folder of reports it is a row of the table."""
    shutil.copy(KEPT / "report_0_1_0.json", tmp_path / "old.json")
    rows, bad = addon("farm.reports").read_reports(tmp_path)
    assert not bad and [row["armature"] for row in rows] == ["Rig"]
    assert rows[0]["file"] == "of_0_1_0.blend" and rows[0]["vertices"] == 192
    written = json.loads((KEPT / "report_0_1_0.json").read_text("utf-8"))["files"][0]["armatures"][
        0
    ]
    assert rows[0]["surface_strain"] == written["deformation"]["after"]["surface_strain"]


def test_a_report_of_0_1_0_is_not_replaced(tmp_path):
    """It has no mark that says whose it is."""
    outputs, refusal = addon("core.disk.outputs"), addon("core.base.refusal")
    shutil.copy(KEPT / "report_0_1_0.json", tmp_path / "old.json")
    with pytest.raises(refusal.Refused, match="is there already"):
        outputs.refuse_foreign(tmp_path / "old.json", outputs.RESULTS)
