"""scene.araplbs.last_report: what scripts read after a run."""

import json

import bpy
import pytest
from scenes import add_cube, addon, auto_weight, select, tube_and_rig


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


def test_of_each_scene():
    """What failed leaves the report of the run before."""
    tube, rig = tube_and_rig()
    auto_weight(tube, rig)
    first = last()
    select(add_cube("Alone", (5, 0, 0)))
    with pytest.raises(RuntimeError):
        bpy.ops.object.araplbs_auto_weight()
    assert last() is first
    other = bpy.data.scenes.new("Other")
    assert other.araplbs.last_report is None
    assert addon("operators.base.last_report").report_of(bpy.context.scene) is first


def test_only_options_of_today():
    """What operators on weights take are the options of the table, and those of the panel."""
    options = addon("core.character.options").Options().as_dict()
    beside = {"only_selected_bones", "rna_type"}
    for name in ("araplbs_auto_weight", "araplbs_refine_weights"):
        names = set(getattr(bpy.ops.object, name).get_rna_type().properties.keys())
        assert names - beside == set(options), name
