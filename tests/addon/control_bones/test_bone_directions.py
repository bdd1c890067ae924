"""In armatures as importers leave them, meaningless tails are recognized, and the directions are
derived from the joints."""

import bpy
import numpy as np
import pytest
from mathutils import Vector
from scenes import (
    BONES,
    add_armature,
    add_mesh,
    add_tube,
    addon,
    auto_weight,
    entries,
    new_scene,
    package,
    select,
    tube_arrays,
    weights,
)

LEG = [
    ("Hips", (0, 0, 11.5), (0, 0, 10), None),
    ("UpLeg", (0, 0, 10), (0, 0, 5.5), "Hips"),
    ("Leg", (0, 0, 5.5), (0, 0, 1), "UpLeg"),
    ("Foot", (0, 0, 1), (0, -1.5, 0.2), "Leg"),
]


def limb(begin, end, radius, rings=24, sides=12):
    """Vertices and faces of a closed tube from one point to another."""
    begin, end = Vector(begin), Vector(end)
    along = end - begin
    vertices, faces = tube_arrays(along.length, rings, sides, radius)
    turn = np.array(Vector((0, 0, 1)).rotation_difference(along).to_matrix())
    return vertices @ turn.T + np.array(begin), faces


def report():
    return addon("features.auto_weight.outcome") and bpy.context.scene.araplbs.last_report


def shares(ob, rig):
    """{bone: mean weight}"""
    names = [bone.name for bone in rig.data.bones]
    return dict(zip(names, weights(ob, names).mean(axis=0), strict=True))


def through_gltf(path, *objects):
    select(*objects)
    bpy.ops.preferences.addon_enable(module="io_scene_gltf2")
    bpy.ops.export_scene.gltf(filepath=str(path), use_selection=True)
    new_scene()
    bpy.ops.import_scene.gltf(filepath=str(path))
    rig = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE")
    mesh = next(ob for ob in bpy.data.objects if ob.type == "MESH" and ob.find_armature() == rig)
    return mesh, rig


@pytest.mark.parametrize("scale", [0.01, 0.58, 1.5, 100])
def test_armatures_of_a_scale_through_gltf(scale, tmp_path):
    """The importer does not divide the lengths of bones by the scale of their armature."""
    leg = add_mesh("Leg", *limb((0, 0, 10.3), (0, 0, 0), 0.8, rings=40))  # no joint on the cap
    rig = add_armature(bones=LEG)
    rig.scale = leg.scale = (scale,) * 3
    assert auto_weight(leg, rig) == {"FINISHED"}
    assert report()["bone_directions"] == "TAILS"
    made = shares(leg, rig)
    leg, rig = through_gltf(tmp_path / "leg.glb", leg, rig)
    leg.vertex_groups.clear()
    assert auto_weight(leg, rig) == {"FINISHED"}
    assert report()["bone_directions"] == "LENGTHS"
    found = shares(leg, rig)
    assert found == pytest.approx(made, abs=0.06)
    assert all(found[name] > 0.02 for name in made if name != "Hips")


def arm_of_unreal(turn):
    """Upper arm, forearm, their twist bones and hand; the mesh begins at the shoulder."""
    mesh = add_mesh("Arm", *limb((0, 0, 0), (0.75, 0, 0), 0.045, rings=50))
    rows = [
        ("clavicle_l", (-0.1, 0, 0), (0, 0, 0), None),
        ("upperarm_l", (0, 0, 0), (0.28, 0, 0), "clavicle_l"),
        ("upperarm_twist_01_l", (0.02, 0, 0), (0.14, 0, 0), "upperarm_l"),
        ("lowerarm_l", (0.28, 0, 0), (0.54, 0, 0), "upperarm_l"),
        ("lowerarm_twist_01_l", (0.41, 0, 0), (0.54, 0, 0), "lowerarm_l"),
        ("hand_l", (0.54, 0, 0), (0.66, 0, 0), "lowerarm_l"),
        ("thigh_l", (0, 0, -0.4), (0, 0, -0.7), "clavicle_l"),
        ("calf_l", (0, 0, -0.7), (0, 0, -1), "thigh_l"),
        ("pelvis", (-0.1, 0, -0.3), (-0.1, 0, -0.2), None),
    ]
    turned = [(n, h, Vector(h) + turn * (Vector(t) - Vector(h)).length, p) for n, h, t, p in rows]
    return mesh, add_armature(bones=turned if turn else rows)


def test_an_arm_with_bones_that_point_sideways():
    """Upper arm, forearm and hand each move a part of the arm, as with tails along the arm."""
    mesh, rig = arm_of_unreal(Vector((0, 0, 1)))
    assert auto_weight(mesh, rig) == {"FINISHED"}
    assert report()["bone_directions"] == "JOINTS"
    assert not report()["rigid"]
    found = shares(mesh, rig)
    assert all(found[name] > 0.05 for name in ("upperarm_l", "hand_l")), found
    assert found["lowerarm_l"] + found["lowerarm_twist_01_l"] > 0.1
    lines = package("reports.report").notes(report())
    assert any(line.startswith("Bones run from joint to joint") for line in lines)
    texts = [note.text for note in package("reports.notes").result_notes(report())]
    assert "Bones read from their joints" in texts


def tube_with(turned=False):
    tube = add_tube()
    aside = [(n, h, Vector(h) + Vector((0, 0.9, 0)), p) for n, h, _t, p in BONES]
    return tube, add_armature(bones=aside if turned else BONES)


def test_the_choice():
    """Automatic gives the same bits as Tails for bones drawn by an artist, and as Joints for bones
    that point aside."""
    found = {}
    for turned in (False, True):
        for choice in ("AUTOMATIC", "TAILS", "JOINTS"):
            new_scene()
            tube, rig = tube_with(turned)
            assert auto_weight(tube, rig, bone_directions=choice) == {"FINISHED"}
            found[turned, choice] = entries(tube), report()["bone_directions"]
    assert found[False, "AUTOMATIC"] == found[False, "TAILS"]
    assert found[True, "AUTOMATIC"] == found[True, "JOINTS"]
    assert found[False, "TAILS"][1] == found[True, "TAILS"][1] == "TAILS"
    assert found[False, "JOINTS"][1] == "JOINTS"
    assert found[True, "TAILS"][0] != found[True, "JOINTS"][0]


def test_the_armature_is_not_changed():
    tube, rig = tube_with(turned=True)
    ends = [(bone.head_local[:], bone.tail_local[:]) for bone in rig.data.bones]
    assert auto_weight(tube, rig) == {"FINISHED"}
    assert ends == [(bone.head_local[:], bone.tail_local[:]) for bone in rig.data.bones]


def test_bendy_bones_keep_their_tails():
    tube, rig = tube_with(turned=True)
    rig.data.bones["middle"].bbone_segments = 4
    assert auto_weight(tube, rig) == {"FINISHED"}
    assert report()["bone_directions"] == "TAILS"


def test_limits_are_about_the_axes_of_the_bone():
    """If bones are derived from joints, a limited bone with children keeps the axes to which its
    limits refer."""
    tube, rig = tube_with(turned=True)
    limit = rig.pose.bones["middle"].constraints.new("LIMIT_ROTATION")
    limit.owner_space, limit.use_limit_x, limit.max_x = "LOCAL", True, 0.5
    limit = rig.pose.bones["upper"].constraints.new("LIMIT_ROTATION")
    limit.owner_space, limit.use_limit_x, limit.max_x = "LOCAL", True, 0.5
    read = addon("blender.read.read_armature").read_armature(rig, use_joint_limits=True)
    skeleton = package("base.steps").finish(
        package("character.directions").read_directions_in_steps([mesh_of(tube)], read, "JOINTS")
    )
    assert np.array_equal(skeleton.tails[1], read.tails[1])
    assert np.allclose(skeleton.tails[0], skeleton.heads[1], atol=1e-6)
    assert not np.isnan(skeleton.limits[1]).all()
    assert np.isnan(skeleton.limits[2]).all()
    assert not np.isnan(read.limits[2]).all()


def mesh_of(ob):
    data = ob.data
    data.calc_loop_triangles()
    return package("character.mesh").Mesh(
        ob.name,
        np.array([vertex.co for vertex in data.vertices], float),
        np.array([triangle.vertices for triangle in data.loop_triangles]),
        np.zeros((0, 2), int),
        np.eye(4),
    )


@pytest.mark.parametrize("scale", [(2, 2, 2), (-1, 1, 1), (-2, 0.5, 4)])
def test_the_scale_of_objects_changes_nothing(scale):
    """Neither the scale of a character's armature nor a mesh scale for which its points compensate
    changes the result."""
    found = []
    for parented in (None, True, False):
        new_scene()
        tube, rig = tube_with()
        if parented:
            tube.parent = rig
            rig.scale = scale
        elif parented is False:
            tube.scale = scale
            for vertex in tube.data.vertices:
                vertex.co = [x / s for x, s in zip(vertex.co, scale, strict=True)]
        bpy.context.view_layer.update()
        assert auto_weight(tube, rig) == {"FINISHED"}
        found.append(weights(tube, ["lower", "middle", "upper"]))
    assert np.abs(found[1] - found[0]).max() < 1e-6
    assert np.abs(found[2] - found[0]).max() < 1e-5


def axis_of(rig, marker, bone):
    """The unit axis about which a bone rotates at a marker of its action, in armature space."""
    frame = {m.name: m.frame for m in rig.animation_data.action.pose_markers}[marker]
    bpy.context.scene.frame_set(frame)
    posed = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones[bone]
    turn = posed.matrix @ posed.bone.matrix_local.inverted()
    return np.array(turn.to_quaternion().axis)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("bone", ["lower", "upper"])
def test_range_of_motion_turns_about_the_ways(turned, bone):
    """Rotation about Y twists the limb, and rotation about X and Z swings it, wherever the tails
    are."""
    tube, rig = tube_with(turned)
    assert auto_weight(tube, rig) == {"FINISHED"}
    select(rig)
    assert bpy.ops.object.araplbs_range_of_motion("EXEC_DEFAULT", combinations=0) == {"FINISHED"}
    for axis, along in (("X +60", 0), ("Y +10", 1), ("Z +60", 0)):
        assert abs(axis_of(rig, f"{bone} {axis}", bone)[2]) == pytest.approx(along, abs=1e-2)


def test_range_of_motion_without_a_mesh_turns_about_the_tails():
    _tube, rig = tube_with(turned=True)
    select(rig)
    assert bpy.ops.object.araplbs_range_of_motion("EXEC_DEFAULT", combinations=0) == {"FINISHED"}
    assert abs(axis_of(rig, "lower Y +10", "lower")[1]) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("turned", [False, True])
def test_transfer_sees_the_ways(turned):
    """A transfer uses the bone directions when it fills in weights and when it searches for bones
    through walls."""
    tube, rig = tube_with(turned)
    assert auto_weight(tube, rig) == {"FINISHED"}
    sleeve = add_tube("Sleeve", radius=0.33, rings=25, sides=14, caps=False)
    task = addon("features.transfer.task").TransferTask(
        package("features.transfer.options").TransferOptions()
    )
    targets = addon("blender.read.transfer_targets").TransferTargets(rig, [tube], [sleeve])
    task.read(targets, bpy.context.view_layer)
    skeleton = task.reading.skeleton
    assert skeleton.directions == ("JOINTS" if turned else "TAILS")
    np.testing.assert_allclose(skeleton.tails[:2], skeleton.heads[1:], atol=1e-6)
    task.solve()
    task.apply()
    ours, below = (weights(ob, skeleton.names) for ob in (sleeve, tube))
    assert np.abs(ours[:14].mean(axis=0) - below[:14].mean(axis=0)).max() < 0.1
