"""Export for Games: the contents of the files, the message, and the scene, which stays
unchanged."""

import bpy
import numpy as np
import pytest
from deep import deep_snapshot, difference
from rows_of import Rows
from scenes import addon, select, tube_and_rig, weights

MOST = {"UNITY": 4, "UNREAL": 8, "GODOT": 4, "ROBLOX": 4, "VRCHAT": 4, "WEB": 4}


def crowded(count=10):
    """A tube whose vertices follow `count` bones, with a bone that is omitted as a control and one
    that does not deform."""
    tube, rig = tube_and_rig()
    select(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    for k in range(count):
        bone = rig.data.edit_bones.new(f"b{k}")
        bone.head, bone.tail = (0.1 * k, 0, 1), (0.1 * k, 0, 1.4)
        bone.parent = rig.data.edit_bones["lower"]
    bpy.ops.object.mode_set(mode="OBJECT")
    for k in range(count):
        group = tube.vertex_groups.new(name=f"b{k}")
        group.add(range(len(tube.data.vertices)), (k + 1) / 100, "REPLACE")
    tube.vertex_groups.new(name="no bone").add([0, 1, 2], 0.5, "REPLACE")
    rig.data.bones["upper"].use_deform = False
    select(tube, rig, active=rig)
    return tube, rig


def export(path, **options):
    return bpy.ops.object.araplbs_export_game("EXEC_DEFAULT", filepath=str(path), **options)


def back(path):
    """(rig, mesh object) imported from a file."""
    known = set(bpy.data.objects)
    if path.suffix == ".glb":
        bpy.ops.import_scene.gltf(filepath=str(path))
    else:
        bpy.ops.import_scene.fbx(filepath=str(path))
    new = [ob for ob in bpy.data.objects if ob not in known]
    rig = next(ob for ob in new if ob.type == "ARMATURE")
    return rig, next(ob for ob in new if ob.type == "MESH" and ob.find_armature() == rig)


@pytest.mark.parametrize("engine", MOST)
def test_files(engine, tmp_path, capfd):
    """The files contain only deform bones and few influences that sum to 1. The scene stays
    unchanged."""
    tube, rig = crowded()
    kind = addon("features.export_game.operator").ENGINES[engine].kind
    ending = {"gltf": ".glb", "fbx": ".fbx"}[kind]
    before = deep_snapshot()
    assert export(tmp_path / "out", engine=engine) == {"FINISHED"}
    assert difference(before, deep_snapshot()) == {}
    said = capfd.readouterr().out
    path = tmp_path / f"out{ending}"
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    assert f"out{ending}: 12 of 13 bones, at most {MOST[engine]} influences" in said
    assert f"{len(tube.data.vertices)} vertices limited" in said
    assert "Deform bones only" in said
    rig, mesh = back(path)
    deform = {f"b{k}" for k in range(10)} | {"lower", "middle"}
    assert {bone.name for bone in rig.data.bones} == deform
    used = [sum(g.weight > 1e-4 for g in v.groups) for v in mesh.data.vertices]
    assert max(used) == MOST[engine]
    sums = [sum(g.weight for g in v.groups) for v in mesh.data.vertices]
    np.testing.assert_allclose(np.array(sums) / sums[0], 1, atol=0.02)
    largest = {mesh.vertex_groups[g.group].name for g in mesh.data.vertices[0].groups}
    assert "b9" in largest and "b0" not in largest


def test_a_control_bone_is_left_out(tmp_path):
    """The bone's Deform is on, as importers leave it, and is still on afterwards."""
    _tube, rig = crowded(2)
    marks = addon("blender.read.control_bones")
    bone = rig.data.bones["b0"]
    assert not marks.is_left_out(bone)
    reasons = bone.bl_rna.properties["araplbs_control"].enum_items
    bone.araplbs_control = next(item.identifier for item in reasons if item.identifier != "NONE")
    assert marks.is_left_out(bone) and bone.use_deform
    assert export(tmp_path / "out", engine="WEB") == {"FINISHED"}
    assert bone.use_deform
    found, _mesh = back(tmp_path / "out.glb")
    assert "b0" not in found.data.bones


def test_refusals(tmp_path):
    """Each refusal is one sentence, and nothing is written."""
    _tube, rig = crowded(2)
    before = deep_snapshot()
    with pytest.raises(RuntimeError, match="Specify a file"):
        export(" ")
    with pytest.raises(RuntimeError, match=r"There is no folder '.*nowhere'"):
        export(tmp_path / "nowhere" / "out.glb")
    assert difference(before, deep_snapshot()) == {} and not list(tmp_path.iterdir())
    select(rig)
    bpy.ops.object.mode_set(mode="POSE")
    assert not bpy.ops.object.araplbs_export_game.poll()


def test_an_exporter_that_fails_changes_nothing(tmp_path, monkeypatch):
    tube, _rig = crowded()
    module = addon("features.export_game.operator")
    before, own = deep_snapshot(), weights(tube, [f"b{k}" for k in range(10)])

    class Fails:
        def __call__(self, *_arguments, **_settings):
            assert (weights(tube, [f"b{k}" for k in range(10)]) > 0).sum(1).max() == 4
            raise RuntimeError("Error: disk full")

        @staticmethod
        def get_rna_type():
            return bpy.ops.export_scene.gltf.get_rna_type()

    monkeypatch.setattr(module, "exporter_of", lambda _kind: Fails())
    with pytest.raises(RuntimeError, match="disk full"):
        export(tmp_path / "out", engine="WEB")
    assert difference(before, deep_snapshot()) == {}
    assert (weights(tube, [f"b{k}" for k in range(10)]) == own).all()
    monkeypatch.setattr(module, "exporter_of", lambda _kind: None)
    with pytest.raises(
        RuntimeError, match=r"exporter is disabled: enable the add-on 'glTF 2.0 format'"
    ):
        export(tmp_path / "out", engine="WEB")


def test_the_engine_of_the_preset():
    """All options passed to the exporter exist in this Blender."""
    module, presets = addon("features.export_game.operator"), addon("features.auto_weight.presets")
    settings = bpy.context.scene.araplbs
    for name, wanted in (("Unreal", "UNREAL"), ("Godot", "GODOT"), ("Film", "WEB")):
        file = presets.preset_files()[name]
        bpy.ops.object.araplbs_load_preset(filepath=str(file))
        assert module.engine_in_use(settings) == wanted
    for engine in module.ENGINES.values():
        known = module.exporter_of(engine.kind).get_rna_type().properties
        assert [n for n in module.exporter_settings(engine, True) if n not in known] == []


def test_the_influences_of_a_material(monkeypatch):
    """In a narrow panel, the name is on a line of its own, and a long name is shortened."""
    tube, _rig = tube_and_rig()
    tube.data.materials.append(bpy.data.materials.new("A material with a long name"))
    select(tube)
    panel, said = addon("panels.export_panel"), []
    monkeypatch.setattr(panel, "draw_rows", lambda *_: None)
    monkeypatch.setattr(panel, "panel_room", lambda _context: 100)
    monkeypatch.setattr(panel, "draw_named", lambda *_, text: said.append(text))
    drawn = type("Panel", (), {"layout": Rows()})()
    panel.VIEW3D_PT_araplbs_export.draw(drawn, bpy.context)
    (text,) = said
    assert text.startswith("Max") and text.endswith("name") and len(text) < 20
