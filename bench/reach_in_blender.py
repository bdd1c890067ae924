"""Runs Blender's inverse kinematics on the chains that reach.py has written.

reach_in_blender.py CASES.npz RESULT.npz     (called by reach.py)

Each case is a chain: heads, tails, roll axes (m, 3), limits (m, 3, 2) or none, targets (k, 3)."""

import sys
import time

import bpy
import numpy as np
from mathutils import Vector

CASES, RESULT = sys.argv[sys.argv.index("--") + 1 :]


def make_rig(heads, tails, rolls):
    """(armature object, pose bones) of a chain, beginning with the root."""
    data = bpy.data.armatures.new("chain")
    rig = bpy.data.objects.new("chain", data)
    bpy.context.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    above = None
    for k, (head, tail, roll) in enumerate(zip(heads, tails, rolls, strict=True)):
        bone = data.edit_bones.new(f"bone {k}")
        bone.head, bone.tail, bone.parent = head, tail, above
        bone.align_roll(Vector(roll))
        above = bone
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig, [rig.pose.bones[f"bone {k}"] for k in range(len(heads))]


def set_limits(bones, limits):
    for bone, box in zip(bones, limits, strict=True):
        for axis, (low, high) in zip("xyz", box, strict=True):
            setattr(bone, f"use_ik_limit_{axis}", True)
            setattr(bone, f"ik_min_{axis}", low)
            setattr(bone, f"ik_max_{axis}", high)


def update(target, place):
    """Seconds of one evaluation."""
    target.location = place
    start = time.perf_counter()
    bpy.context.view_layer.update()
    return time.perf_counter() - start


def solve(case):
    """(errors (k,), seconds (k,)) of one chain."""
    rig, bones = make_rig(case["heads"], case["tails"], case["rolls"])
    target = bpy.data.objects.new("target", None)
    bpy.context.collection.objects.link(target)
    if "limits" in case:
        set_limits(bones, case["limits"])
    ik = bones[-1].constraints.new("IK")
    ik.target, ik.iterations = target, int(case["iterations"])
    errors, seconds = [], []
    for place in case["targets"]:
        with_ik = update(target, place)
        tail = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones[-1].tail
        errors.append((tail - Vector(place)).length)
        ik.mute = True
        bpy.context.view_layer.update()
        seconds.append(with_ik - update(target, Vector(place) * 1.01))
        ik.mute = False
    for each in (rig, target):
        bpy.data.objects.remove(each)
    return np.array(errors), np.array(seconds)


def main():
    bpy.ops.wm.read_homefile(use_empty=True)
    with np.load(CASES) as file:
        arrays = dict(file)
    names = sorted({key.split("|")[0] for key in arrays})
    found = {}
    for name in names:
        prefix = f"{name}|"
        case = {k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)}
        found[f"{name}|errors"], found[f"{name}|seconds"] = solve(case)
    np.savez(RESULT, **found)


main()
