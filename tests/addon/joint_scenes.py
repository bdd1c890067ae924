"""Creates tubes with rigs whose joints are off the axis, and checks the requirements of Optimize
Joints."""

import math

import bpy
import deep
import numpy as np
import pytest
from scenes import add_armature, add_tube, addon, bind, package, select

TRUE = {"lower": (0, 0, 0.05), "middle": (0, 0, 1.0), "upper": (0, 0, 2.0)}
OFF = {"middle": (0.09, 0.03, 1.0), "upper": (-0.05, 0.07, 2.0)}


def chain(heads, end=(0, 0, 2.95)):
    """Connected bones up the tube."""
    names = list(heads)
    tails = [heads[name] for name in names[1:]] + [end]
    parents = [None, *names[:-1]]
    return list(zip(names, heads.values(), tails, parents, strict=True))


def connect(rig, *names):
    select(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    for name in names:
        rig.data.edit_bones[name].use_connect = True
    bpy.ops.object.mode_set(mode="OBJECT")


def bent_tube(off=OFF, more=(), **shape):
    """A tube with a rig whose joints are off its axis."""
    rig = add_armature(bones=[*chain({**TRUE, **off}), *more])
    connect(rig, "middle", "upper")
    tube = add_tube(rings=31, sides=12, **shape)
    bind(tube, rig)
    return tube, rig


def optimize(*objects, **options):
    if objects:
        select(*objects)
    return bpy.ops.object.araplbs_joints(
        "EXEC_DEFAULT", **{"anchor": 0.0, "pose_count": 40, **options}
    )


def refused(*objects, **options):
    """The reason of a refusal, after a check that nothing has changed."""
    return deep.refused("joints", *objects, anchor=0.0, pose_count=40, **options)


def task_of(*objects, **options):
    """A JointTask that has read its data."""
    select(*objects)
    task = addon("features.joints.task").JointTask(
        package("features.joints.options").JointOptions(
            **{"anchor": 0.0, "pose_count": 40, **options}
        )
    )
    task.read(addon("blender.read.targets").find_targets(bpy.context), bpy.context.view_layer)
    return task


def told(*objects, **options):
    """(the report, the warnings) of a finished task."""
    task = task_of(*objects, **options)
    task.solve()
    return task.apply(), task.warnings


def skeleton_of(*rigs):
    """All values of the rest skeleton, for an exact comparison."""
    return [
        (
            *(bone.name, bone.use_connect, tuple(bone.head_local), tuple(bone.tail_local)),
            *map(tuple, bone.matrix_local),
        )
        for rig in rigs
        for bone in rig.data.bones
    ]


def place(rig, name, end="head"):
    return np.array(getattr(rig.data.bones[name], f"{end}_local"))


def off_axis(rig, name):
    return float(np.linalg.norm(place(rig, name)[:2]))


def same_bones(rig, before, names):
    """Compares bones except for their last bits, because Blender recreates bones when it leaves
    Edit mode."""
    now = {row[0]: row for row in skeleton_of(rig)}
    for row in before:
        if row[0] in names:
            for one, other in zip(row[2:], now[row[0]][2:], strict=True):
                np.testing.assert_allclose(other, one, atol=1e-5)


def z_turned(rig, before):
    """Degrees by which the Z axis of each bone has turned."""
    z = {row[0]: np.array(row[4:7])[:3, 2] for row in before}
    return {
        bone.name: math.degrees(
            math.acos(np.clip(np.dot(z[bone.name], np.array(bone.matrix_local)[:3, 2]), -1, 1))
        )
        for bone in rig.data.bones
    }


def twin_rig():
    """A rig with control bones in addition to the deform bones: a copy of a bone, an IK target with
    its own tail, a bone connected to this target, and a bone in a different place."""
    heads = {**TRUE, **OFF}
    more = [
        ("ORG-middle", heads["middle"], heads["upper"], None),
        ("target", heads["upper"], (0, -0.7, 2.1), None),
        ("child", (0, -0.7, 2.1), (0, -0.9, 2.3), "target"),
        ("pole", (0, -2, 1), (0, -2.4, 1), None),
        ("short", (0.07, 0.0235, 1), heads["middle"], None),
    ]
    tube, rig = bent_tube(more=more)
    for name, *_rest in more:
        rig.data.bones[name].use_deform = False
    connect(rig, "child")
    return tube, rig


def start_session(**options):
    return addon("features.joints.operator").JointSession(
        addon("features.joints.operator").find_joint_targets(bpy.context),
        package("features.joints.options").JointOptions(**{"anchor": 0.0, **options}),
        bpy.context.view_layer,
    )


def refused_poll(*objects):
    select(*objects)
    with pytest.raises(package("base.refusal").Refused) as reason:
        addon("features.joints.operator").find_joint_targets(bpy.context)
    assert not bpy.ops.object.araplbs_joints.poll()
    return str(reason.value)
