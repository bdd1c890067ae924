"""Computes the effect of Blender's remeshers on a weighted mesh, and the weights that Blender's own
tools restore:

restore_in_blender.py FILE.npz...     in a headless Blender

Each file contains `vertices` (n, 3), `faces_start`, `faces` (its polygons), `weights` (n, m) and
`parts` (n,), which are separate meshes only for the change "join". FILE.CHANGE.npz gets the changed
mesh: `vertices`, `triangles`, `left` (k, m), the weights that remain after the change, `transfer`,
those of Data Transfer from a copy made before the change, and the `seconds` of this transfer."""

import sys
from itertools import pairwise
from pathlib import Path

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from data_transfer import give_weights, transfer, weights_of

VOXELS = 150  # along the diagonal
RATIO = 0.5


def mesh_object(name, vertices, faces):
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(vertices.tolist(), [], faces)
    mesh.validate()
    ob = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(ob)
    return ob


def activate(*objects):
    bpy.context.view_layer.update()
    for ob in bpy.context.view_layer.objects:
        ob.select_set(ob in objects)
    bpy.context.view_layer.objects.active = objects[0]


def voxel(ob):
    ob.data.remesh_voxel_size = np.linalg.norm(ob.dimensions) / VOXELS
    return bpy.ops.object.voxel_remesh()


def quad(ob):
    return bpy.ops.object.quadriflow_remesh(
        mode="FACES", target_faces=max(len(ob.data.polygons), 2000), use_mesh_symmetry=False
    )


def modified(kind, **settings):
    def change(ob):
        modifier = ob.modifiers.new("Change", kind)
        for name, value in settings.items():
            setattr(modifier, name, value)
        return bpy.ops.object.modifier_apply(modifier=modifier.name)

    return change


CHANGES = {
    "voxel": voxel,
    "quad": quad,
    "decimate": modified("DECIMATE", ratio=RATIO),
    "subdivide": modified("SUBSURF", levels=1),
}


def coordinates(ob):
    found = np.empty(3 * len(ob.data.vertices), np.float32)
    ob.data.vertices.foreach_get("co", found)
    return found.reshape(-1, 3)


def triangles_of(mesh):
    mesh.calc_loop_triangles()
    triangles = np.empty(3 * len(mesh.loop_triangles), np.int32)
    mesh.loop_triangles.foreach_get("vertices", triangles)
    return triangles.reshape(-1, 3)


def joined(given, faces):
    """The parts as separate objects in another order, joined."""
    objects = []
    for part in np.unique(given["parts"])[::-1]:
        own = np.flatnonzero(given["parts"] == part)
        place = np.full(len(given["parts"]), -1)
        place[own] = np.arange(len(own))
        here = [[int(place[v]) for v in face] for face in faces if place[face[0]] >= 0]
        ob = mesh_object(f"Part {part}", given["vertices"][own], here)
        give_weights(ob, given["weights"][own])
        objects.append(ob)
    activate(*objects)
    bpy.ops.object.join()
    return objects[0]


def result(ob, before, bones):
    left = weights_of(ob, bones)
    ob.vertex_groups.clear()
    seconds = transfer(before, ob)
    return {
        "vertices": coordinates(ob),
        "triangles": triangles_of(ob.data),
        "left": left,
        "transfer": weights_of(ob, bones),
        "seconds": seconds,
    }


def main(*files):
    for file in files:
        given = dict(np.load(file))
        ends = given["faces_start"]
        faces = [given["faces"][a:b].tolist() for a, b in pairwise(ends)]
        bones = given["weights"].shape[1]
        several = len(np.unique(given["parts"])) > 1
        for name, change in (*CHANGES.items(), *([("join", None)] if several else [])):
            bpy.ops.wm.read_homefile(use_empty=True)
            before = mesh_object("Before", given["vertices"], faces)
            give_weights(before, given["weights"])
            if change:
                ob = mesh_object("Now", given["vertices"], faces)
                give_weights(ob, given["weights"])
                activate(ob)
                try:
                    if change(ob) != {"FINISHED"} or not ob.data.polygons:
                        continue
                except RuntimeError as error:
                    print(file, name, error)
                    continue
            else:
                ob = joined(given, faces)
            np.savez(Path(file).with_suffix(f".{name}.npz"), **result(ob, before, bones))


if __name__ == "__main__":
    main(*sys.argv[sys.argv.index("--") + 1 :])
