"""Draws the picture docs/manual/deform_with.png: a twisted hand, deformed with each deformer.

deformers.py ZIP PICTURE.png     in a headless Blender 5.2 or later (tools/run_blender.sh)"""

import math
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import bpy
import character as generated
import compare
import numpy as np
from mathutils import Vector
from picture import Stage, posed_copy

TWIST = 150  # degrees
DEFORMERS = ("ARMATURE", "DUAL_QUATERNIONS", "CENTERS", "STRETCH_TWIST")
WIDTH, HEIGHT = 400, 220  # pixels for each deformer
VIEW = 1.9  # width of this picture, in lengths of the forearm


def main(zip_path, path):
    compare.install_extension(zip_path)
    path = str(Path(path).resolve())
    bpy.ops.wm.read_homefile(use_empty=True)
    rig, meshes = generated.make_character()
    compare.select(rig, meshes)
    bpy.ops.object.araplbs_auto_weight("EXEC_DEFAULT")
    body = max(meshes, key=lambda ob: len(ob.data.vertices))
    hand = rig.pose.bones["hand.L"]
    hand.rotation_mode, hand.rotation_euler = "XYZ", (0, math.radians(TWIST), 0)
    wrist, size = rig.matrix_world @ hand.parent.tail, hand.parent.length
    compare.select(rig, [body])
    stage = Stage(size)
    for k, deformer in enumerate(DEFORMERS):
        bpy.ops.object.araplbs_deform_with(deformer=deformer)
        bpy.context.view_layer.update()
        copy = posed_copy(stage.scene, body, np.zeros(len(body.data.vertices)))
        copy.location = Vector((0, 4 * k * size, 0)) - wrist
    data = bpy.data.cameras.new("Camera")
    data.type, data.ortho_scale, data.clip_end = "ORTHO", VIEW * size, 3 * size
    stage.scene.camera = camera = bpy.data.objects.new("Camera", data)
    stage.scene.collection.objects.link(camera)
    camera.rotation_euler = math.radians(90), 0, 0
    render = stage.scene.render
    render.resolution_x, render.resolution_y = WIDTH, HEIGHT
    parts = []
    for k in range(len(DEFORMERS)):
        camera.location = 0.15 * size, (4 * k - 1.5) * size, 0
        render.filepath = path
        bpy.ops.render.render(write_still=True, scene=stage.scene.name)
        image = bpy.data.images.load(path)
        parts.append(np.array(image.pixels).reshape(HEIGHT, WIDTH, 4))
        bpy.data.images.remove(image)
    whole = np.concatenate(parts, axis=1)
    image = bpy.data.images.new("Deformers", whole.shape[1], whole.shape[0])
    image.pixels = whole.ravel()
    image.filepath_raw, image.file_format = path, "PNG"
    image.save()


main(*sys.argv[sys.argv.index("--") + 1 :])
sys.stdout.flush()
os._exit(0)
