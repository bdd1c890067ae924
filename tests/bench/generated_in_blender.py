"""Blender's automatic weights of meshes: generated_in_blender.py FILE.npz...   in a headless one

Each file has `vertices`, `triangles`, `names`, `heads`, `tails` and `parents` of bones.
FILE.blender.npz gets `weights` (n, m), 0 where Blender finds none, and `seconds`."""

import sys
import time
from pathlib import Path

import bpy
import numpy as np


def rig_of(given):
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    names = list(map(str, given["names"]))
    for name, head, tail, parent in zip(
        names, given["heads"], given["tails"], given["parents"], strict=True
    ):
        bone = rig.data.edit_bones.new(name)
        bone.head, bone.tail = head, tail
        if parent >= 0:
            bone.parent = rig.data.edit_bones[names[parent]]
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig, names


for file in map(Path, sys.argv[sys.argv.index("--") + 1 :]):
    given = dict(np.load(file))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    rig, names = rig_of(given)
    mesh = bpy.data.meshes.new("Mesh")
    mesh.from_pydata(given["vertices"].tolist(), [], given["triangles"].tolist())
    ob = bpy.data.objects.new("Mesh", mesh)
    bpy.context.scene.collection.objects.link(ob)
    bpy.context.view_layer.update()
    ob.select_set(True)
    rig.select_set(True)
    bpy.context.view_layer.objects.active = rig
    start = time.perf_counter()
    bpy.ops.object.parent_set(type="ARMATURE_AUTO")
    seconds = time.perf_counter() - start
    found = np.zeros((len(mesh.vertices), len(names)))
    place = {group.index: names.index(group.name) for group in ob.vertex_groups}
    for vertex in mesh.vertices:
        for entry in vertex.groups:
            found[vertex.index, place[entry.group]] = entry.weight
    np.savez(file.with_suffix(".blender.npz"), weights=found, seconds=seconds)
