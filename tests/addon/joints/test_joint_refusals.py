"""Optimize Joints: refusals and reports."""

import bpy
import pytest
from joint_scenes import bent_tube, off_axis, refused, refused_poll, skeleton_of, told, twin_rig
from scenes import (
    add_object,
    add_tube,
    bind,
    entries,
    in_library,
    select,
)


def test_weights_that_cannot_stay():
    tube, rig = bent_tube()
    assert "no weights yet" in refused(tube, rig, optimize_weights=False)


def test_volume_is_refused():
    assert "Surface Only" in refused(*bent_tube(), volume="INSIDE")


def test_refusals():
    tube, rig = bent_tube()
    other = add_object("Twin", rig.data)
    stranger = add_tube("Stranger")
    bind(stranger, other)
    assert "Twin" in refused_poll(tube, rig) and "Stranger" in refused_poll(tube, rig)
    stranger.modifiers.clear()
    stranger.parent = None
    _report, warnings = told(tube, rig)
    assert any("Twin" in line for line in warnings)
    select(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    assert not bpy.ops.object.araplbs_joints.poll()
    bpy.ops.object.mode_set(mode="OBJECT")
    select(tube)
    tube.modifiers.clear()
    tube.parent = None
    assert "armature" in refused_poll(tube)


def test_linked_armature(tmp_path):
    tube, rig = bent_tube()
    (rig,) = in_library(tmp_path, rig)
    assert "linked from another file" in refused_poll(tube, rig)
    override = rig.override_create(remap_local_usages=True)
    if override.data.library is None:
        assert "override" in refused_poll(tube, override)


def test_hidden_armature():
    """Blender does not allow a hidden armature to be edited."""
    tube, rig = bent_tube()
    rig.hide_viewport = True
    select(tube, active=tube)
    assert bpy.ops.object.araplbs_joints(anchor=0.0, pose_count=20) == {"FINISHED"}
    assert rig.hide_viewport and off_axis(rig, "middle") < 0.05
    collection = bpy.data.collections.new("Away")
    bpy.context.scene.collection.children.link(collection)
    collection.objects.link(rig)
    bpy.context.scene.collection.objects.unlink(rig)
    bpy.context.view_layer.layer_collection.children["Away"].exclude = True
    before, bones = entries(tube), skeleton_of(rig)
    with pytest.raises(RuntimeError, match="view layer"):
        bpy.ops.object.araplbs_joints(anchor=0.0, pose_count=20)
    assert entries(tube) == before and skeleton_of(rig) == bones


def test_warnings_name_what_changes():
    tube, rig = twin_rig()
    pose = rig.pose.bones
    stretch = pose["ORG-middle"].constraints.new("STRETCH_TO")
    stretch.target, stretch.subtarget = rig, "target"
    ik = pose["upper"].constraints.new("IK")
    ik.target, ik.subtarget, ik.chain_count = rig, "pole", 2
    child_of = pose["pole"].constraints.new("CHILD_OF")
    child_of.target, child_of.subtarget = rig, "middle"
    pose["middle"].location = (0.2, 0, 0)
    pose["middle"].keyframe_insert("location", frame=1)
    pose["middle"].location = (0, 0, 0)
    hat = add_object("Hat", None)
    hat.parent, hat.parent_type, hat.parent_bone = rig, "BONE", "upper"
    follower = add_object("Follower", None)
    copy = follower.constraints.new("COPY_LOCATION")
    copy.target, copy.subtarget = rig, "upper"
    pose["upper"].custom_shape = add_object("Shape", None)
    pose["upper"].rotation_mode = "XYZ"
    pose["upper"].rotation_euler.x = 0.5
    driver = tube.driver_add("location", 0).driver
    variable = driver.variables.new()
    variable.type = "TRANSFORMS"
    variable.targets[0].id, variable.targets[0].bone_target = rig, "middle"
    add_tube("Skirt").modifiers.new("Armature", "ARMATURE").object = rig
    tube.animation_data.drivers[0].mute = True
    action = rig.animation_data.action
    pose["middle"].location = (0, 0, 0)
    report, warnings = told(tube, rig)
    assert {"middle", "upper"} <= set(report["moved_bones"])
    for words in (
        ("Stretch To", "ORG-middle"),
        ("IK chain", "upper"),
        ("Child Of", "pole"),
        ("location keys", action.name),
        ("parented to a moved bone", "Hat"),
        ("through constraints", "Follower"),
        ("custom shape", "upper"),
        ("posed", "upper"),
        ("driver", "Tube"),
        ("keeps its weights", "Skirt"),
    ):
        lines = [line for line in warnings if all(word in line for word in words)]
        assert len(lines) == 1, (words, warnings)


def test_no_warnings_for_a_plain_rig():
    tube, rig = bent_tube()
    assert told(tube, rig)[1] == []
