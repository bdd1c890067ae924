"""Computes results of Blender's Data Transfer, and levels of detail with its Decimate modifier:

data_transfer.py FILE.npz...     in a headless Blender

Each file contains `body` (n, 3), `body_triangles`, `body_weights` (n, m), and either `mesh` and
`triangles`, or `ratio`, by which the body is decimated. FILE.blender.npz gets the mesh, its
`weights` and the `seconds` of the transfer."""

import sys
import time
from pathlib import Path

import bpy
import numpy as np


def add(name, vertices, triangles):
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(vertices.tolist(), [], triangles.tolist())
    ob = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(ob)
    return ob


def give_weights(ob, weights):
    for bone in range(weights.shape[1]):
        group = ob.vertex_groups.new(name=str(bone))
        for vertex in np.flatnonzero(weights[:, bone]).tolist():
            group.add([vertex], float(weights[vertex, bone]), "REPLACE")


def weights_of(ob, bones):
    found = np.zeros((len(ob.data.vertices), bones))
    for vertex in ob.data.vertices:
        for element in vertex.groups:
            bone = int(ob.vertex_groups[element.group].name)
            found[vertex.index, bone] = element.weight
    return found


def decimated(body, ratio):
    """A new object without vertex groups."""
    modifier = body.modifiers.new("Decimate", "DECIMATE")
    modifier.ratio = ratio
    evaluated = body.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = bpy.data.meshes.new_from_object(evaluated)
    body.modifiers.remove(modifier)
    ob = bpy.data.objects.new("LOD", mesh)
    bpy.context.scene.collection.objects.link(ob)
    return ob


def transfer(body, ob):
    bpy.context.view_layer.update()
    for each in bpy.context.view_layer.objects:
        each.select_set(each in (body, ob))
    bpy.context.view_layer.objects.active = body
    start = time.perf_counter()
    bpy.ops.object.data_transfer(
        data_type="VGROUP_WEIGHTS", vert_mapping="POLYINTERP_NEAREST",
        layers_select_src="ALL", layers_select_dst="NAME", use_object_transform=True,
    )  # fmt: skip
    return time.perf_counter() - start


def main(*files):
    for file in files:
        bpy.ops.wm.read_homefile(use_empty=True)
        given = dict(np.load(file))
        body = add("Body", given["body"], given["body_triangles"])
        if "ratio" in given:
            ob = decimated(body, float(given["ratio"]))
        else:
            ob = add("Garment", given["mesh"], given["triangles"])
        give_weights(body, given["body_weights"])
        seconds = transfer(body, ob)
        ob.data.calc_loop_triangles()
        np.savez(
            Path(file).with_suffix(".blender.npz"),
            mesh=np.array([vertex.co for vertex in ob.data.vertices], float),
            triangles=np.array([t.vertices for t in ob.data.loop_triangles], int),
            weights=weights_of(ob, given["body_weights"].shape[1]),
            seconds=seconds,
        )


if __name__ == "__main__":
    main(*sys.argv[sys.argv.index("--") + 1 :])
