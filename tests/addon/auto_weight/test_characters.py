"""Tests Auto-weight on real characters. All vertices get weights within the promised limits, even
on characters for which Blender's automatic weights fail."""

import bpy
import pytest
from paths import DATA, RIGS, shared_file
from scenes import assert_good, auto_weight, select, weights
from test_rigs_table import opened


@pytest.fixture
def character(request):
    path = shared_file(DATA, f"{request.param}.blend")
    bpy.ops.wm.open_mainfile(filepath=str(path))
    rig = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE")
    meshes = [ob for ob in bpy.data.objects if ob.type == "MESH" and ob.find_armature() == rig]
    return meshes, rig


@pytest.mark.parametrize(
    "character", ["knight", "mage", "human_game_engine", "q_cat_wire"], indirect=True
)
def test_character(character):
    meshes, rig = character
    assert auto_weight(*meshes, rig) == {"FINISHED"}
    for mesh in meshes:
        assert_good(mesh, rig)


@pytest.mark.parametrize("character", ["knight"], indirect=True)
def test_with_all_its_actions(character):
    meshes, rig = character
    assert auto_weight(*meshes, rig, animation="ALL", max_influences=8) == {"FINISHED"}
    for mesh in meshes:
        assert_good(mesh, rig, 8)


@pytest.mark.slow
def test_film_rig():
    """A character posed through its rig, whose bendy bones are left out."""
    path = shared_file(RIGS, "cloudrig_test_poses.blend")
    bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=False)
    mesh = bpy.data.objects["ShapeKeyTest"]
    rig = mesh.find_armature()
    mesh.hide_set(False)
    assert auto_weight(mesh, rig) == {"FINISHED"}
    assert_good(mesh, rig)
    assert any(bone.araplbs_control != "NONE" for bone in rig.data.bones if bone.bbone_segments > 1)


@pytest.mark.slow
def test_backpack_and_body_share_no_bones():
    """The bones of a backpack coincide with bones of the body in a production file."""
    rig, meshes = opened(shared_file(RIGS, "lc_seven.blend"))
    for group in [g for g in meshes[0].vertex_groups if g.name in rig.data.bones]:
        meshes[0].vertex_groups.remove(group)
    select(*meshes, rig)
    auto_weight(pose_count=8)
    names = [g.name for g in meshes[0].vertex_groups if g.name in rig.data.bones]
    found = weights(meshes[0], names)
    pack = [name.startswith("bp_") for name in names]
    on_pack = found[:, pack].sum(1)
    assert ((on_pack < 1e-6) | (on_pack > 1 - 1e-6)).all()
    assert 800 < (on_pack > 0.5).sum() < 900
    assert found[:, names.index("bp_spine_03")].sum() > 300
