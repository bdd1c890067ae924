"""Bendy bones converted to plain bones: modes, selection, undo and refusals. A failure or Esc
leaves no changes."""

import bpy
import pytest
from bendy_scenes import CHAIN, pose, tail, weight
from scenes import (
    add_armature,
    add_tube,
    addon,
    bind,
    choose_bones,
    new_scene,
    select,
    snapshot,
)


@pytest.mark.parametrize("mode", ["OBJECT", "POSE", "EDIT"])
def test_modes_and_selection(mode):
    tube, rig = tail()
    select(rig)
    bpy.ops.object.mode_set(mode=mode)
    if mode == "EDIT":
        for bone in rig.data.edit_bones:
            bone.select = bone.name == "middle"
    else:
        choose_bones(rig, "middle")
    assert bpy.ops.object.araplbs_bendy() == {"FINISHED"}
    assert rig.mode == ("OBJECT" if mode == "OBJECT" else "POSE")
    left = addon("features.bendy.parameters").bendy_bones(rig)
    assert left == ([] if mode == "OBJECT" else ["lower", "upper"])
    assert ("middle_1" in tube.vertex_groups) and ("middle" not in tube.vertex_groups)


def test_nothing_selected():
    _tube, rig = tail()
    select(rig)
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="DESELECT")
    with pytest.raises(RuntimeError, match="No deforming bendy bone is selected"):
        bpy.ops.object.araplbs_bendy()
    assert rig.mode == "POSE" and len(rig.data.bones) == 3
    assert bpy.ops.object.araplbs_bendy(only_selected=False) == {"FINISHED"}
    assert len(rig.data.bones) == 3 + 7 + 6 + 5


@pytest.mark.parametrize("mode", ["OBJECT", "POSE", "EDIT"])
def test_one_step_of_undo(mode):
    _tube, rig = tail()
    pose(rig, 4)
    select(rig)
    bpy.ops.object.mode_set(mode=mode)
    bpy.ops.ed.undo_push(message="before")
    before = snapshot()
    run = bpy.ops.object.araplbs_bendy
    assert run("EXEC_DEFAULT", True, only_selected=False) == {"FINISHED"}  # True: a step of undo
    assert len(rig.data.bones) == 3 + 7 + 6 + 5
    bpy.ops.ed.undo()
    rig = bpy.data.objects["Rig"]
    assert sorted(rig.data.bones.keys()) == sorted(CHAIN)
    assert all(bone.use_deform for bone in rig.data.bones)
    assert snapshot() == before


def library(tmp_path, kind):
    """The mesh or armature of the tail, linked from another file."""
    tail()
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    new_scene()
    if kind == "armature":
        with bpy.data.libraries.load(path, link=True) as (_there, here):
            here.armatures = ["Rig"]
        rig = bpy.data.objects.new("Rig", here.armatures[0])
        bpy.context.scene.collection.objects.link(rig)
        return rig
    with bpy.data.libraries.load(path, link=True) as (_there, here):
        here.meshes = ["Tail"]
    _tube, rig = tail()
    other = bpy.data.objects.new("Linked", here.meshes[0])
    bpy.context.scene.collection.objects.link(other)
    bind(other, rig)
    return rig


def test_linked_armature(tmp_path):
    select(library(tmp_path, "armature"))
    assert not bpy.ops.object.araplbs_bendy.poll()
    with pytest.raises(RuntimeError, match="'Rig' is linked from another file"):
        bpy.ops.object.araplbs_bendy()


def straight(_tube, rig):
    for bone in rig.data.bones:
        bone.bbone_segments = 1


def shared_elsewhere(tube, rig):
    other = bpy.data.objects.new("Other", tube.data)
    bpy.context.scene.collection.objects.link(other)
    other.location.z = 1
    bind(other, rig)


def shared_other_rig(tube, _rig):
    other = bpy.data.objects.new("Other", tube.data)
    bpy.context.scene.collection.objects.link(other)
    bind(other, add_armature("Second"))


def lattice(_tube, rig):
    ob = bpy.data.objects.new("Lattice", bpy.data.lattices.new("Lattice"))
    bpy.context.scene.collection.objects.link(ob)
    ob.modifiers.new("Armature", "ARMATURE").object = rig


def envelopes(tube, _rig):
    tube.modifiers["Armature"].use_bone_envelopes = True


def second_with_envelopes(tube, rig):
    second = tube.modifiers.new("Second", "ARMATURE")
    second.object, second.use_bone_envelopes = rig, True


def armature_child(tube, _rig):
    """An object that Blender deforms by groups and envelopes."""
    tube.modifiers.clear()
    tube.parent_type = "ARMATURE"


def flat_mesh(tube, _rig):
    tube.scale.x = 0


@pytest.mark.parametrize(
    ("spoil", "options", "message"),
    [
        (straight, {}, "'Rig' has no bendy bones: no deform bone has more than 1 segment"),
        (None, {"count": 1}, "A single bone cannot bend"),
        (None, {"parameter": "GROUP"}, "Choose the vertex group that gives"),
        (None, {"parameter": "GROUP", "group": "no"}, "'Tail' has no vertex group 'no'"),
        (shared_elsewhere, {}, "'Other' and 'Tail' share one mesh, but are in different places"),
        (shared_other_rig, {}, "share one mesh, but not the armature"),
        (lattice, {}, "'Lattice' is deformed by 'Rig' and is not a mesh"),
        (envelopes, {}, "'Tail' is deformed by Bone Envelopes"),
        (second_with_envelopes, {}, "'Tail' is deformed by Bone Envelopes"),
        (armature_child, {}, "'Tail' is deformed by its parent 'Rig', which uses Bone Envelopes"),
        (flat_mesh, {}, "'Tail' has a scale of zero"),
    ],
)
def test_refusals(spoil, options, message):
    tube, rig = tail()
    if spoil:
        spoil(tube, rig)
    select(rig)
    before, bones = snapshot(), rig.data.bones.keys()
    with pytest.raises(RuntimeError, match=message):
        bpy.ops.object.araplbs_bendy(**options)
    assert snapshot() == before and rig.data.bones.keys() == bones


def test_linked_mesh(tmp_path):
    rig = library(tmp_path, "mesh")
    select(rig)
    before = snapshot()
    with pytest.raises(RuntimeError, match="'Linked' is linked from another file"):
        bpy.ops.object.araplbs_bendy()
    assert snapshot() == before


def test_where_it_cannot_run():
    tube, rig = tail()
    select(tube)
    with pytest.raises(RuntimeError, match="The active object is not an armature"):
        bpy.ops.object.araplbs_bendy()
    other = bpy.data.objects.new("Twin", rig.data)
    bpy.context.scene.collection.objects.link(other)
    select(rig)
    with pytest.raises(RuntimeError, match="share one armature: make it single-user first"):
        bpy.ops.object.araplbs_bendy()
    bpy.data.objects.remove(other)
    rig.hide_set(True)
    with pytest.raises(RuntimeError, match="'Rig' is hidden"):
        bpy.ops.object.araplbs_bendy()


def test_failure_half_way_leaves_nothing(monkeypatch):
    """Nothing remains even if the failure comes after the bones were created and one mesh was
    written."""
    _tube, rig = tail()
    other = add_tube("Other")
    bind(other, rig)
    weight(other)
    select(rig)
    module = addon("features.bendy.parameters")
    write, calls = module._write, []

    def fail(*arguments):
        calls.append(arguments)
        if len(calls) == 2:
            raise MemoryError("no memory")
        return write(*arguments)

    monkeypatch.setattr(module, "_write", fail)
    before = snapshot()
    with pytest.raises(RuntimeError, match="no memory"):
        bpy.ops.object.araplbs_bendy()
    assert snapshot() == before and set(rig.data.bones.keys()) == set(CHAIN)
    assert all(bone.use_deform for bone in rig.data.bones)


def test_closing_the_steps_takes_all_back():
    """Closing the steps at any point undoes everything, as Esc does."""
    _tube, rig = tail()
    select(rig)
    before, count = snapshot(), 0
    module = addon("features.bendy.parameters")
    while True:
        steps = module.convert_in_steps(rig, list(CHAIN), bpy.context.view_layer)
        try:
            for _ in range(count + 1):
                next(steps)
        except StopIteration:
            break
        steps.close()
        assert snapshot() == before and set(rig.data.bones.keys()) == set(CHAIN)
        count += 1
    assert count > 4 and len(rig.data.bones) == 3 + 7 + 6 + 5
