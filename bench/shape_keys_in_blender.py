"""Computes the shapes that Blender's Surface Deform and Data Transfer give the clothes of a body:

shape_keys_in_blender.py FILE.npz...     in a headless Blender

Each file contains `body` (n, 3), `body_triangles`, `shapes` (k, n, 3), `mesh` and `triangles`.
FILE.blender.npz gets `deform` and `transfer` (k, vertices, 3), and the seconds of both. Data
Transfer only handles weights, so it receives the displacements as weights of three groups per
shape."""

import sys
import time
from pathlib import Path

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from data_transfer import add, give_weights, transfer, weights_of


def deformed(ob):
    mesh = ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    found = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", found)
    return found.reshape(-1, 3)


def surface_deform(body, ob, shapes):
    body.shape_key_add(name="Basis")
    blocks = []
    for shape in shapes:
        block = body.shape_key_add(name="Shape", from_mix=False)
        block.data.foreach_set("co", np.ascontiguousarray(shape, np.float32).ravel())
        block.value = 0
        blocks.append(block)
    start = time.perf_counter()
    modifier = ob.modifiers.new("Deform", "SURFACE_DEFORM")
    modifier.target = body
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.surfacedeform_bind(modifier=modifier.name)
    if not modifier.is_bound:
        return None, 0.0
    found = []
    for block in blocks:
        block.value = 1
        bpy.context.view_layer.update()
        found.append(deformed(ob))
        block.value = 0
    return np.array(found), time.perf_counter() - start


def data_transfer(body, ob, moves):
    """moves (k, n, 3)"""
    columns = moves.transpose(1, 0, 2).reshape(moves.shape[1], -1)
    most = np.abs(columns).max()
    give_weights(body, 0.5 + 0.5 * columns / most)
    seconds = transfer(body, ob)
    found = (weights_of(ob, columns.shape[1]) - 0.5) * 2 * most
    return found.reshape(len(found), -1, 3).transpose(1, 0, 2), seconds


def main(*files):
    for file in files:
        bpy.ops.wm.read_homefile(use_empty=True)
        given = dict(np.load(file))
        body = add("Body", given["body"], given["body_triangles"])
        ob = add("Worn", given["mesh"], given["triangles"])
        moves, transfer_seconds = data_transfer(body, ob, given["shapes"] - given["body"])
        found, deform_seconds = surface_deform(body, ob, given["shapes"])
        nothing = np.full_like(moves, np.nan)
        np.savez(
            Path(file).with_suffix(".blender.npz"),
            transfer=given["mesh"] + moves,
            transfer_seconds=transfer_seconds,
            deform=nothing if found is None else found,
            deform_seconds=deform_seconds,
        )


if __name__ == "__main__":
    main(*sys.argv[sys.argv.index("--") + 1 :])
