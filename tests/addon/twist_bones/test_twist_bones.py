"""Add Twist Bones and Remove Twist Bones: names, places, exact motion, weights, undo, refusals."""

import re

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector
from scenes import (
    add_armature,
    add_object,
    add_tube,
    addon,
    auto_weight,
    bind,
    entries,
    in_library,
    rotation,
    select,
    snapshot,
    weights,
)
from test_outcome import at_hand, in_a_window  # noqa: F401

ADDED = {f"{limb}_twist.{side}" for limb in ("upper_arm", "forearm") for side in "LR"}
POSES = 200


def arms(*more):
    """Two arms in the middle of a tube along X, with bent hands, in a rig of its own place."""
    bones = [("spine", (0, 0, -0.6), (0, 0, 0), None), *more]
    for side, x in (("L", 1), ("R", -1)):
        bones += [
            (f"shoulder.{side}", (0.05 * x, 0, 0), (0.3 * x, 0, 0), "spine"),
            (f"upper_arm.{side}", (0.3 * x, 0, 0), (x, 0.02, 0), f"shoulder.{side}"),
            (f"forearm.{side}", (x, 0.02, 0), (1.7 * x, 0, 0), f"upper_arm.{side}"),
            (f"hand.{side}", (1.7 * x, 0, 0), (2 * x, -0.05, -0.1), f"forearm.{side}"),
        ]
    rig = add_armature(bones=bones, matrix=Matrix.Translation((0.3, 0.2, 0.1)))
    place = rig.matrix_world @ rotation(90, "Y") @ Matrix.Translation((0, 0, -2))
    tube = add_tube(matrix=place, length=4.0, rings=61, radius=0.12)
    bind(tube, rig)
    auto_weight(tube, rig)
    select(rig)
    return tube, rig


def add(**options):
    return bpy.ops.object.araplbs_add_twist_bones(**options)


def swing_and_twist(turn, axis):
    """(swing, angle) of a rotation about an axis."""
    along = Vector(turn[1:]).dot(axis)
    angle = 2 * np.arctan2(along, turn.w)
    angle = (angle + np.pi) % (2 * np.pi) - np.pi
    return turn @ Quaternion(axis, angle).inverted(), angle


def expected(rig, name):
    """The pose matrix that a twist bone should have, in double precision as far as possible."""
    bone = rig.data.bones[name]
    limb = rig.pose.bones[bone.parent.name]
    forearm = name.startswith("forearm")
    source = limb if not forearm else rig.pose.bones[name.replace("forearm_twist", "hand")]
    rest = bone.matrix_local.to_quaternion()
    into = source.bone.matrix_local.to_quaternion()
    local = into @ source.matrix_basis.to_quaternion() @ into.inverted()
    axis = rest @ Vector((0, 1, 0))
    _swing, angle = swing_and_twist(local, axis)
    turn = Quaternion((0, 1, 0), angle / 2 if forearm else -angle / 2)
    place = limb.matrix @ limb.bone.matrix_local.inverted() @ bone.matrix_local
    return place @ turn.to_matrix().to_4x4()


def test_the_bones_have_the_place_and_the_name_of_their_limb():
    tube, rig = arms()
    collection = rig.data.collections.new("Arms")
    collection.assign(rig.data.bones["upper_arm.L"])
    before = snapshot()
    assert add() == {"FINISHED"}
    assert {bone.name for bone in rig.data.bones} >= ADDED and len(rig.data.bones) == 13
    upper, twist = (rig.data.bones[n] for n in ("upper_arm.L", "upper_arm_twist.L"))
    assert twist.use_deform and twist.parent == upper and collection in twist.collections[:]
    np.testing.assert_allclose(twist.head_local, upper.head_local, atol=1e-6)
    assert twist.length == pytest.approx(0.4 * upper.length, rel=1e-5)
    np.testing.assert_allclose(twist.z_axis, upper.z_axis, atol=1e-5)
    fore = rig.data.bones["forearm_twist.L"]
    np.testing.assert_allclose(fore.head_local, (1.28, 0.012, 0), atol=1e-5)
    assert rig.mode == "OBJECT" and before != snapshot()
    assert not rig.animation_data
    groups = {group.name for group in tube.vertex_groups}
    assert groups >= ADDED


def test_the_bones_follow_exactly():
    _tube, rig = arms()
    add()
    rng, worst = np.random.default_rng(0), 0.0
    turning = [bone for bone in rig.pose.bones if bone.name not in ADDED]
    for bone in turning:
        bone.rotation_mode = "QUATERNION"
    for _pose in range(POSES):
        for bone in turning:
            axis, angle = Vector(rng.normal(size=3)).normalized(), rng.uniform(-2.2, 2.2)
            bone.rotation_quaternion = Quaternion(axis, angle)
        bpy.context.view_layer.update()
        for name in ADDED:
            off = np.abs(np.array(rig.pose.bones[name].matrix) - np.array(expected(rig, name)))
            worst = max(worst, float(off.max()))
    assert worst < 1e-6


def test_weights_are_shared_and_merged_again():
    tube, rig = arms()
    names = [bone.name for bone in rig.data.bones]
    before = weights(tube, names)
    add()
    taken = weights(tube, sorted(ADDED))
    assert (taken.max(0) > 0.5).all()
    now = np.array([sum(g.weight for g in v.groups) for v in tube.data.vertices])
    np.testing.assert_allclose(now, 1, atol=1e-6)
    assert max(len(vertex.groups) for vertex in tube.data.vertices) <= 4
    assert bpy.ops.object.araplbs_remove_twist_bones() == {"FINISHED"}
    assert len(rig.data.bones) == 9
    assert not ADDED & {group.name for group in tube.vertex_groups}
    np.testing.assert_allclose(weights(tube, names), before, atol=1e-6)
    with pytest.raises(RuntimeError, match="'Rig' has no bones from Add Twist Bones"):
        bpy.ops.object.araplbs_remove_twist_bones()


def test_other_bones_with_the_constraint_stay():
    """An artist may copy it to other bones."""
    tube, rig = arms()
    add()
    own = rig.pose.bones["forearm_twist.L"].constraints[0]
    rig.pose.bones["hand.L"].constraints.copy(own)
    rig.data.bones["forearm_twist.L"].name = "Renamed"
    assert bpy.ops.object.araplbs_remove_twist_bones() == {"FINISHED"}
    assert len(rig.data.bones) == 9 and "hand.L" in rig.data.bones
    assert "Renamed" not in tube.vertex_groups


def test_meshes_outside_of_the_view_layer_keep_their_weights():
    tube, rig = arms()
    names = [bone.name for bone in rig.data.bones]
    before = weights(tube, names)
    add()
    for collection in list(tube.users_collection):
        collection.objects.unlink(tube)
    select(rig)
    assert bpy.ops.object.araplbs_remove_twist_bones() == {"FINISHED"}
    np.testing.assert_allclose(weights(tube, names), before, atol=1e-6)


def test_children_of_twist_bones_are_not_orphaned():
    _tube, rig = arms()
    add()
    prop = add_object("Prop", None)
    prop.parent, prop.parent_type, prop.parent_bone = rig, "BONE", "forearm_twist.L"
    bpy.context.view_layer.update()
    before = snapshot()
    with pytest.raises(RuntimeError, match=r"'Prop' is a child of the bone 'forearm_twist\.L'"):
        bpy.ops.object.araplbs_remove_twist_bones()
    assert snapshot() == before


def test_one_undo_step():
    tube, rig = arms()
    bpy.ops.ed.undo_push(message="before")
    before = entries(tube)
    add()
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()
    tube, rig = bpy.data.objects["Tube"], bpy.data.objects["Rig"]
    assert len(rig.data.bones) == 9 and entries(tube) == before


def test_the_result_offers_them():
    """The note names what the skin gains, and its button adds the bones."""
    tube, rig = arms()
    (note,) = [each for each in at_hand().notes if each.remedy == "TWIST"]
    share = int(re.search(r"(\d+) %", str(note.text))[1])
    assert 20 < share < 65
    operator, text, _options = addon("panels.result_box").CURES[note.remedy]
    assert (operator, text) == ("object.araplbs_add_twist_bones", "Add Twist Bones")
    add()
    select(tube, rig)
    auto_weight()
    assert not [each for each in at_hand().notes if each.remedy == "TWIST"]


def test_exports_carry_the_twist(tmp_path):
    """Exporters bake the constraints into keys: after the import, the bones move as before."""
    _tube, rig = arms()
    add()
    rng, frames = np.random.default_rng(1), (1, 10, 20, 30)
    turning = [bone for bone in rig.pose.bones if bone.name not in ADDED]
    for frame in frames:
        for bone in turning:
            bone.rotation_mode = "QUATERNION"
            axis, angle = Vector(rng.normal(size=3)).normalized(), rng.uniform(-1, 1)
            bone.rotation_quaternion = Quaternion(axis, angle)
            bone.keyframe_insert("rotation_quaternion", frame=frame)
    before = moved(rig, range(1, 31))
    for suffix, write, read in (
        (".glb", bpy.ops.export_scene.gltf, bpy.ops.import_scene.gltf),
        (".fbx", bpy.ops.export_scene.fbx, bpy.ops.import_scene.fbx),
    ):
        path = str(tmp_path / f"arm{suffix}")
        own = {} if suffix == ".glb" else {"add_leaf_bones": False, "bake_anim_simplify_factor": 0}
        write(filepath=path, **own)
        objects = set(bpy.data.objects)
        read(filepath=path)
        (again,) = [o for o in set(bpy.data.objects) - objects if o.type == "ARMATURE"]
        first = 1 - int(again.animation_data.action.frame_range[0])
        after = moved(again, [frame - first for frame in range(1, 31)])
        for name in ADDED:
            assert np.abs(after[name] - before[name]).max() < 1e-4, (suffix, name)
        for each in set(bpy.data.objects) - objects:
            bpy.data.objects.remove(each)


def moved(rig, frames):
    """{bone: (frames, 3, 3)} the rotations of the bones from rest, in the world."""
    found = {}
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        world = rig.matrix_world.to_quaternion().to_matrix()
        for bone in rig.pose.bones:
            turn = (bone.matrix @ bone.bone.matrix_local.inverted()).to_quaternion().to_matrix()
            found.setdefault(bone.name, []).append(np.array(world @ turn @ world.inverted()))
    return {name: np.array(each) for name, each in found.items()}


def refused(words, **options):
    before = snapshot()
    with pytest.raises(RuntimeError, match=words):
        add(**options)
    assert snapshot() == before


def test_refusals():
    tube, rig = arms()
    tube.vertex_groups["upper_arm.L"].lock_weight = True
    refused("'upper_arm.L' of 'Tube' is locked")
    tube.vertex_groups["upper_arm.L"].lock_weight = False
    refused("no limbs of the chosen kinds", kinds={"THIGHS"})
    other = add_object("Other", rig.data)
    select(rig)
    refused("shares its bones with 'Other'")
    bpy.data.objects.remove(other)
    bpy.ops.object.mode_set(mode="EDIT")
    refused("'Rig' is in Edit mode")
    bpy.ops.object.mode_set(mode="OBJECT")
    add()
    refused("have twist or bendy bones already: upper_arm.L")


def test_refusals_of_what_others_own(tmp_path):
    """The poll gives the reason, before anything is changed."""
    _tube, rig = arms()
    (linked,) = in_library(tmp_path, rig)
    select(linked)
    refused("'Rig' is linked from another file")
    override = linked.override_create(remap_local_usages=True)
    select(override)
    refused("'Rig' is")
    bpy.context.view_layer.objects.active = add_tube("Alone")
    refused("Select an armature, or a mesh with one")


def test_limbs_without_a_gain_are_left_alone():
    """Rigid limbs do not stretch, however far they twist; bendy bones twist by themselves."""
    tube, rig = arms()
    for group in tube.vertex_groups:
        group.remove(range(len(tube.data.vertices)))
    for vertex in tube.data.vertices:
        x, side = abs(vertex.co.z - 2), "L" if vertex.co.z > 2 else "R"
        limb = next(n for n, end in (("upper_arm", 1), ("forearm", 1.7), ("hand", 9)) if x < end)
        tube.vertex_groups[f"{limb}.{side}"].add([vertex.index], 1, "REPLACE")
    for name in ("upper_arm.L", "upper_arm.R"):
        rig.data.bones[name].bbone_segments = 4
    refused("have twist or bendy bones already: upper_arm", kinds={"UPPER_ARMS"})
    assert add(only_helpful=False) == {"FINISHED"}
    assert set(rig.data.bones.keys()) & ADDED == {"forearm_twist.L", "forearm_twist.R"}
