"""Tests Auto-weight on real characters. All vertices get weights within the promised limits, even
on characters for which Blender's automatic weights fail."""

import bpy
import pytest
from paths import DATA, RIGS, shared_file
from scenes import assert_good, auto_weight


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
