"""Computes Blender's automatic weights for meshes:

generated_in_blender.py FILE...     in a headless Blender

FILE.npz contains `vertices`, `triangles`, `names`, and the `heads`, `tails` and `parents` of bones.
If FILE.fbx, a mesh with its skeleton, is given, FILE.npz is made from it. FILE.blender.npz gets
`weights` (n, m), which are 0 where Blender finds none, and `seconds`."""

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


def read_fbx(file):
    """The contents of FILE.npz in world space, with a skeleton of deform bones."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.ops.preferences.addon_enable(module="io_scene_fbx")
    bpy.ops.import_scene.fbx(filepath=str(file))
    [ob] = (ob for ob in bpy.data.objects if ob.type == "MESH")
    [rig] = (ob for ob in bpy.data.objects if ob.type == "ARMATURE")
    mesh, bones = ob.data, rig.data.bones
    mesh.calc_loop_triangles()
    names = bones.keys()
    return {
        "vertices": np.array([ob.matrix_world @ vertex.co for vertex in mesh.vertices]),
        "triangles": np.array([each.vertices for each in mesh.loop_triangles], np.int32),
        "names": np.array(names),
        "heads": np.array([rig.matrix_world @ bone.head_local for bone in bones]),
        "tails": np.array([rig.matrix_world @ bone.tail_local for bone in bones]),
        "parents": np.array([names.index(b.parent.name) if b.parent else -1 for b in bones]),
    }


for file in map(Path, sys.argv[sys.argv.index("--") + 1 :]):
    if file.suffix == ".fbx":
        given = read_fbx(file)
        file = file.with_suffix(".npz")
        np.savez(file, **given)
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
