"""The parent and the Armature modifier: existing ones are kept, and missing ones are created."""

import bpy
import numpy as np
import pytest
from mathutils import Matrix
from scenes import (
    add_armature,
    add_cube,
    add_tube,
    assert_good,
    auto_weight,
    bind,
    deform_names,
    entries,
    rotation,
    select,
    tube_and_rig,
    weights,
)


def world(ob):
    bpy.context.view_layer.update()
    return np.array(ob.matrix_world)


def placed():
    return Matrix.Translation((1, 2, 3)) @ rotation(40, "Y") @ Matrix.Diagonal((2, 1, 0.5, 1))


def test_unbound_as_blender_does_it():
    """The parent, the inverse and the modifier equal those from
    parent_set(type='ARMATURE_NAME')."""
    rig = add_armature(matrix=placed())
    ours, theirs = add_tube("Ours"), add_tube("Theirs")
    select(theirs, rig)
    bpy.ops.object.parent_set(type="ARMATURE_NAME")
    auto_weight(ours, rig)
    assert_good(ours, rig)
    for ob in (ours, theirs):
        assert ob.parent == rig and ob.parent_type == "OBJECT"
        assert np.allclose(world(ob), np.eye(4), atol=1e-6)
    assert np.allclose(ours.matrix_parent_inverse, theirs.matrix_parent_inverse)
    assert [(m.name, m.type, m.object) for m in ours.modifiers] == [("Armature", "ARMATURE", rig)]
    assert [g.name for g in ours.vertex_groups] == [g.name for g in theirs.vertex_groups]


def test_bound_stays_as_it_is():
    """A mesh bound by a modifier without a parent, followed by another modifier, stays
    unchanged."""
    rig = add_armature()
    tube = add_tube(matrix=placed())
    modifier = tube.modifiers.new("Mine", "ARMATURE")
    modifier.object = rig
    modifier.use_deform_preserve_volume = True
    tube.modifiers.new("Subdivision", "SUBSURF")
    auto_weight(tube, rig)
    assert tube.parent is None
    assert [(m.name, m.type) for m in tube.modifiers] == [
        ("Mine", "ARMATURE"),
        ("Subdivision", "SUBSURF"),
    ]
    assert modifier.use_deform_preserve_volume


def test_child_without_modifier():
    rig = add_armature()
    tube = add_tube()
    tube.parent = rig
    tube.matrix_parent_inverse = Matrix.Translation((0, 0, 0.25))
    before = world(tube)
    auto_weight(tube, rig)
    assert tube.modifiers[0].object == rig
    assert np.array_equal(world(tube), before)
    assert tube.matrix_parent_inverse.translation.z == 0.25


def test_older_kind_of_parent():
    """The parent type Armature deforms by itself, so no second modifier is added."""
    rig = add_armature()
    tube = add_tube()
    tube.parent, tube.parent_type = rig, "ARMATURE"
    auto_weight(tube, rig)
    assert not tube.modifiers and tube.parent_type == "ARMATURE"
    assert_good(tube, rig)


def test_modifier_without_object_is_used():
    rig = add_armature()
    tube = add_tube()
    tube.modifiers.new("Waiting", "ARMATURE")
    auto_weight(tube, rig)
    assert [(m.name, m.object) for m in tube.modifiers] == [("Waiting", rig)]


@pytest.mark.parametrize("kind", ["object", "sheared object", "bone"])
def test_other_parent_is_replaced_in_place(kind):
    rig = add_armature(matrix=Matrix.Translation((0, 0, -1)))
    tube = add_tube(matrix=placed())
    if kind == "bone":
        bind(tube, rig)
        tube.modifiers.clear()
        tube.parent_type, tube.parent_bone = "BONE", "middle"
    else:
        empty = bpy.data.objects.new("Empty", None)
        bpy.context.scene.collection.objects.link(empty)
        empty.matrix_world = placed()
        if kind == "sheared object":
            empty.scale = (3, 0.2, 1)
        tube.parent = empty
    before = world(tube)
    auto_weight(tube, rig)
    assert tube.parent == rig and tube.parent_type == "OBJECT"
    assert np.allclose(world(tube), before, atol=1e-5)


def test_deformed_by_another_armature(capfd):
    tube, _rig = tube_and_rig()
    other = add_armature("Other")
    second = add_tube("Second")
    auto_weight(tube, second, other)
    assert "Skipped: 'Tube' is deformed by the armature 'Rig'" in capfd.readouterr().out
    assert not tube.vertex_groups and second.parent == other
    with pytest.raises(RuntimeError, match="'Tube' is deformed by the armature 'Rig'"):
        auto_weight(tube, other)
    assert len(tube.modifiers) == 1
    tube.modifiers.new("Second", "ARMATURE").object = other  # stacked rigs are meant
    auto_weight(tube, other)
    assert_good(tube, other)


def test_shared_mesh(capfd):
    """Two objects with one mesh share one set of weights, those of the first."""
    rig = add_armature()
    first = add_tube("First")
    auto_weight(first, rig)
    expected = entries(first)
    twin = bpy.data.objects.new("Twin", first.data)
    bpy.context.scene.collection.objects.link(twin)
    twin.location.x = 5
    auto_weight(first, twin, rig)
    out = capfd.readouterr().out
    assert "Skipped: 'Twin' shares its mesh with 'First' and gets the same weights" in out
    assert entries(first) == expected
    assert twin.parent is None and not twin.modifiers


def test_others_in_the_selection(capfd):
    tube, rig = tube_and_rig()
    curve = bpy.data.objects.new("Belt", bpy.data.curves.new("Belt", "CURVE"))
    lamp = bpy.data.objects.new("Lamp", bpy.data.lights.new("Lamp", "POINT"))
    for ob in (curve, lamp):
        bpy.context.scene.collection.objects.link(ob)
    auto_weight(tube, curve, lamp, rig)
    out = capfd.readouterr().out
    assert "Skipped, not a mesh: Belt" in out and "Lamp" not in out


def test_loose_part_follows_what_it_sits_on():
    """A button on the side of the tube is a separate object."""
    tube, rig = tube_and_rig()
    button = add_cube("Button", (0.32, 0, 2.5), size=0.04)
    auto_weight(tube, button, rig)
    dense = assert_good(button, rig)
    names = deform_names(rig)
    near = min(tube.data.vertices, key=lambda v: (v.co - button.data.vertices[0].co).length)
    assert np.abs(dense - weights(tube, names)[near.index]).max() < 0.1


LEG = [
    ("hips", (0, 0, 1), (0, 0, 1.1), None),
    ("thigh", (0, 0, 1), (0, 0, 0.55), "hips"),
    ("shin", (0, 0, 0.55), (0, 0, 0.1), "thigh"),
]


def boxes_on_a_leg():
    """Returns (rig, [boxes]): each box is parented to its bone. The shin's box lies around the
    thigh."""
    rig = add_armature(bones=LEG)
    places = ((1.1, 0.2), (0.8, 0.2), (0.62, 0.1))
    boxes = [add_cube(f"Box {k}", (0, 0, z), size) for k, (z, size) in enumerate(places)]
    for box, (bone, *_rest) in zip(boxes, LEG, strict=True):
        before = world(box)
        box.parent, box.parent_type, box.parent_bone = rig, "BONE", bone
        bpy.context.view_layer.update()
        box.matrix_world = Matrix(before)
    return rig, boxes


def on_their_bones(boxes, rig):
    names = deform_names(rig)
    return [weights(box, names)[:, k].min() for k, box in enumerate(boxes)]


@pytest.mark.parametrize("how", ["parent", "constraint"])
def test_boxes_stay_on_the_bones_that_they_hung_on(how, capfd):
    rig, boxes = boxes_on_a_leg()
    if how == "constraint":
        for box, (bone, *_rest) in zip(boxes, LEG, strict=True):
            before = world(box)
            box.parent = None
            box.matrix_world = Matrix(before)
            child_of = box.constraints.new("CHILD_OF")
            child_of.target, child_of.subtarget = rig, bone
            bone_matrix = rig.matrix_world @ rig.pose.bones[bone].matrix
            child_of.inverse_matrix = bone_matrix.inverted()
    auto_weight(*boxes, rig)
    assert min(on_their_bones(boxes, rig)) > 0.999
    assert "Stays on its parent bone" in capfd.readouterr().out
    auto_weight(*boxes, rig)  # by an Armature modifier now
    assert min(on_their_bones(boxes, rig)) > 0.999
    boxes[2].data.araplbs.edits[0].use = False  # the artist wants otherwise
    auto_weight(*boxes, rig)
    assert on_their_bones(boxes, rig)[2] < 0.999


def test_a_skin_that_hangs_on_a_bone_is_weighted():
    rig, tube = add_armature(), add_tube()
    tube.parent, tube.parent_type, tube.parent_bone = rig, "BONE", "middle"
    bpy.context.view_layer.update()
    tube.matrix_world = Matrix()
    auto_weight(tube, rig)
    assert assert_good(tube, rig).max(axis=0).min() > 0.9
    assert not tube.data.araplbs.edits


def test_a_bone_that_does_not_deform_holds_nothing():
    rig, boxes = boxes_on_a_leg()
    rig.data.bones["shin"].use_deform = False
    auto_weight(*boxes, rig)
    assert weights(boxes[2], ["thigh"]).min() > 0.999 and not boxes[2].data.araplbs.edits
