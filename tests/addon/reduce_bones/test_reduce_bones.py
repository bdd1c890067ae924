"""Reduce Bones: the removed bones, the new weights of the remaining bones, output and messages,
refusals, and the command line."""

import bmesh
import bpy
import deep
import numpy as np
from command import opened, run, save
from scenes import add_armature, add_tube, addon, bind, choose_bones, package, select, weights

COUNT = 6
NAMES = [f"b{k}" for k in range(COUNT)]


def chain():
    """A tube with six bones, one of which moves hardly any skin."""
    ends = [0, 0.5, 1.0, 1.5, 2.0, 2.5, 2.95]
    bones = [
        (name, (0, 0, ends[k]), (0, 0, ends[k + 1]), NAMES[k - 1] if k else None)
        for k, name in enumerate(NAMES)
    ]
    rig = add_armature(bones=bones)
    tube = add_tube(rings=40, sides=12)
    bind(tube, rig)
    z = np.array([v.co.z for v in tube.data.vertices])
    dense = np.stack([np.exp(-((z - 0.5 * k - 0.25) ** 2) / 0.08) for k in range(COUNT)], 1)
    dense[:, 3] *= 0.02
    dense /= dense.sum(1, keepdims=True)
    for bone, name in enumerate(NAMES):
        group = tube.vertex_groups.new(name=name)
        for vertex in range(len(z)):
            group.add([vertex], dense[vertex, bone], "REPLACE")
    return tube, rig


def task_of(rig, *meshes, **options):
    targets = addon("blender.read.targets").Targets(rig, list(meshes))
    module = addon("features.reduce_bones.task")
    task = module.ReduceBonesTask(
        package("features.reduce_bones.reduce_bones").ReduceBonesOptions(**options)
    )
    task.read(targets, bpy.context.view_layer)
    task.solve()
    report = task.apply()
    return report | {"warnings": task.warnings}


def deform(rig):
    return [bone.name for bone in rig.data.bones if bone.use_deform]


def test_the_bone_that_is_missed_least_goes():
    tube, rig = chain()
    report = task_of(rig, tube, count=5)
    assert list(report["removed"]) == ["b3"] and report["removed"]["b3"] in ("b2", "b4")
    assert deform(rig) == ["b0", "b1", "b2", "b4", "b5"] and "b3" in rig.data.bones
    assert "b3" not in tube.vertex_groups
    now = weights(tube, NAMES)
    np.testing.assert_allclose(now.sum(1), 1, atol=1e-5)
    assert (now > 0).sum(1).max() <= 4
    assert any("Deform is now off for 'b3'" in line for line in report["warnings"])


def test_seams_stay_closed():
    """Every other face has vertices of its own, as along the seams of imported meshes."""
    tube, rig = chain()
    mesh = bmesh.new()
    mesh.from_mesh(tube.data)
    bmesh.ops.split(mesh, geom=[face for face in mesh.faces if face.index % 2])
    mesh.to_mesh(tube.data)
    mesh.free()
    _each, place = np.unique([v.co for v in tube.data.vertices], axis=0, return_inverse=True)
    place, count = place.ravel(), len(_each)
    assert count < len(place)
    task_of(rig, tube, count=3)
    now = weights(tube, NAMES)
    first = np.zeros((count, COUNT))
    first[place] = now
    np.testing.assert_array_equal(now, first[place])


def test_selected_bones():
    tube, rig = chain()
    select(rig)
    bpy.ops.object.mode_set(mode="POSE")
    choose_bones(rig, "b1", "b4")
    bpy.ops.object.araplbs_reduce_bones("EXEC_DEFAULT", which="SELECTED")
    assert deform(rig) == ["b0", "b2", "b3", "b5"]
    assert not weights(tube, ["b1", "b4"]).any()


def test_ends_and_twists():
    tube, rig = chain()
    rig.data.bones["b2"].name = "forearm_twist"
    rig.data.bones["b5"].name = "tip_end"
    report = task_of(rig, tube, which="ENDS")
    assert sorted(report["removed"]) == ["forearm_twist", "tip_end"]


def test_platform_and_count():
    options = package("features.reduce_bones.reduce_bones").ReduceBonesOptions
    assert options(platform="QUEST", count=5).stays == 90
    assert options(count=5).stays == 5


def test_what_hangs_on_bones_is_said():
    tube, rig = chain()
    constraint = rig.pose.bones["b5"].constraints.new("COPY_ROTATION")
    constraint.target, constraint.subtarget = rig, "b3"
    rig.pose.bones["b3"].keyframe_insert("location", frame=1)
    empty = bpy.data.objects.new("Sword", None)
    bpy.context.scene.collection.objects.link(empty)
    empty.parent, empty.parent_type, empty.parent_bone = rig, "BONE", "b3"
    lines = " | ".join(task_of(rig, tube, count=5)["uses"])
    assert "'b3' is the parent of 'Sword'" in lines
    assert "'b3' is the target of 'Copy Rotation' of 'b5'" in lines
    assert "Keys of 'b3' no longer move skin" in lines


def test_groups_that_something_uses_stay():
    tube, rig = chain()
    modifier = tube.modifiers.new("Smooth", "SMOOTH")
    modifier.vertex_group = "b3"
    task_of(rig, tube, count=5)
    assert "b3" in tube.vertex_groups and not weights(tube, ["b3"]).any()


def refused(tube, rig, **options):
    return deep.refused("reduce_bones", tube, rig, **options)


def test_refusals():
    tube, rig = chain()
    assert "There are 6 deform bones, no more than the 30" in refused(tube, rig)
    assert "No deform bone is selected" in refused(tube, rig, which="SELECTED")
    assert "No deform bone is named" in refused(tube, rig, which="ENDS")
    rig.data.bones["b1"].bbone_segments = 4
    assert "bendy or stretching bones" in refused(tube, rig, count=3)


def test_command_line(tmp_path, capfd):
    chain()
    source, output = save(tmp_path / "in.blend"), tmp_path / "out.blend"
    assert run("reduce-bones", source, "--count", 4, "--output", output) == 0
    assert "6 -> 4 deform bones" in capfd.readouterr().out
    assert len(deform(opened(output)["Rig"])) == 4
    assert run("reduce-bones", source, "--output", output) == 1
    assert "6 deform bones, no more" in capfd.readouterr().err
