"""scene.araplbs.last_report, which scripts read after a run."""

import json

import bpy
import pytest
from scenes import add_cube, addon, auto_weight, package, select, tube_and_rig


def last():
    return bpy.context.scene.araplbs.last_report


def test_of_every_run(tmp_path):
    tube, rig = tube_and_rig()
    assert last() is None, "nothing was done in this file"
    auto_weight(tube, rig)
    first = last()
    assert first["armature"] == "Rig" and 0 < first["deformation"]["after"]["surface_strain"] < 1
    assert first["objects"][0]["name"] == "Tube" and first["options"]["max_influences"] == 4
    json.dumps(first)
    auto_weight(max_influences=2)
    assert last()["options"]["max_influences"] == 2 and first["options"]["max_influences"] == 4
    select(tube, rig)
    bpy.ops.object.araplbs_check()
    assert "findings" in last()
    json.dumps(last())
    bpy.ops.object.araplbs_refine_weights(max_influences=3)
    assert last()["options"]["max_influences"] == 3
    file = tmp_path / "saved.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(file))
    assert last(), "saving changes nothing"
    bpy.ops.wm.open_mainfile(filepath=str(file))
    assert last() is None, "it is not in the file"


@pytest.mark.parametrize("animation", ["NONE", "ALL"])
def test_what_was_before_is_measured_when_it_is_asked_for(animation, monkeypatch):
    """The earlier weights are measured on request, with the same result."""
    tube, rig = tube_and_rig()
    rig.animation_data_create().action = bpy.data.actions.new("Bend")
    rig.pose.bones[1].rotation_mode = "XYZ"
    for frame, angle in ((1, 0), (20, 1)):
        rig.pose.bones[1].rotation_euler = (angle, 0, 0)
        rig.pose.bones[1].keyframe_insert("rotation_euler", frame=frame)
    module, starts = package("solvers.solve"), []
    initial_rows = module.initial_rows
    monkeypatch.setattr(module, "initial_rows", lambda *s: starts.append(s) or initial_rows(*s))
    options, found = package("model.options").Options(animation=animation), []
    for later in (False, True):
        task = addon("weighting").WeightingTask(options)
        task.later = later
        task.read(addon("blender.read.targets").Targets(rig, [tube]), bpy.context.view_layer)
        task.solve()
        found.append(task.solution.report["deformation"])
    assert len(starts) == 1 and set(found[0]) == {"before", "after"} and set(found[1]) == {"after"}
    assert found[1]["before"] == found[0]["before"] and found[1] == found[0] and len(starts) == 2
    auto_weight(tube, rig, animation=animation)
    assert len(starts) == 2, "nobody has asked"
    for _turn in range(2):
        before = last()["deformation"]["before"]["surface_strain"]
        assert before == pytest.approx(found[0]["before"]["surface_strain"], rel=1e-6)
        assert len(starts) == 3, "once"
    auto_weight(animation=animation, start_from="PRESENT")
    assert len(starts) == 4, "the line for people says it"


def test_of_each_scene():
    """Each scene has its own report, and a failed run leaves the previous report."""
    tube, rig = tube_and_rig()
    auto_weight(tube, rig)
    first = last()
    select(add_cube("Alone", (5, 0, 0)))
    with pytest.raises(RuntimeError):
        bpy.ops.object.araplbs_auto_weight()
    assert last() is first
    other = bpy.data.scenes.new("Other")
    assert other.araplbs.last_report is None
    assert addon("operators.last_report").report_of(bpy.context.scene) is first


def test_only_options_of_today():
    """Operators on weights have the options of the table, which are also in the panel."""
    options = package("model.options").Options().as_dict()
    beside = {"only_selected_bones", "rna_type"}
    for name in ("araplbs_auto_weight", "araplbs_refine_weights"):
        names = set(getattr(bpy.ops.object, name).get_rna_type().properties.keys())
        assert names - beside == set(options), name
