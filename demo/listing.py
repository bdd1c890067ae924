"""Draws the pictures for the page of the extension: featured.jpg (1920 by 1080), the demo's
character before and after, and icon.png (256 by 256), an arm in the colors of its bone weights.

tools/run_blender.sh demo/listing.py ZIP [FOLDER [NAME...]]     default: docs/listing, both"""

import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import bmesh
import bpy
import character as generated
import compare
import numpy as np
from mathutils import Vector
from picture import Stage, posed_copy, world_points

import demo

FEATURED = (1920, 1080)
ICON = 256
TITLES = ("Before", "After")
LOW, HIGH = 0.30, 1.12  # the visible range, as shares of the height of a figure
# For the icon: an arm that bends, and the color of each bone.
BEND = {"upper_arm.L": (8, 0, 0), "forearm.L": (95, 10, 0), "hand.L": (20, 0, 0)}
CURL = (-70, 0, 0)  # degrees, of every joint of the fingers
COLORS = dict.fromkeys(("hips", "spine", "chest", "neck", "head", "shoulder"), (0.05, 0.35, 0.55))
COLORS |= {"upper_arm": (0.02, 0.16, 0.62), "forearm": (0.95, 0.42, 0.04)}
COLORS |= {"finger": (0.85, 0.06, 0.05)}  # and hands
PAPER = (0.055, 0.065, 0.085)  # behind it


def render(stage, camera_at, turn, scale, size, path):
    data = bpy.data.cameras.new("Camera")
    data.type, data.ortho_scale, data.clip_end = "ORTHO", scale, 100 * stage.size
    camera = bpy.data.objects.new("Camera", data)
    camera.location, camera.rotation_euler = camera_at, turn
    stage.scene.collection.objects.link(camera)
    settings = stage.scene.render
    stage.scene.camera = camera
    stage.scene.cycles.samples = 24
    settings.resolution_x, settings.resolution_y = size
    settings.image_settings.file_format = "JPEG" if path.suffix == ".jpg" else "PNG"
    settings.image_settings.color_mode, settings.image_settings.quality = "RGB", 90
    settings.filepath = str(path)
    bpy.ops.render.render(write_still=True, scene=stage.scene.name)


def featured(path):
    rig, meshes = demo.make_warrior()
    character = compare.Character(rig, meshes)
    bpy.context.view_layer.update()
    copy = demo.posed_rig(rig, True)
    pose = demo.pose_matrices(copy, character.skeleton.names)
    ways = [compare.blender_weights(character), compare.our_weights(character)]
    wide, _deep, tall = demo.posed_size(ways[-1][1], rig, copy)
    stage = Stage(tall, max(1.05 * wide / tall, 0.6))
    for title, (outcome, copies) in zip(TITLES, ways, strict=True):
        strain = character.measures(outcome.rows, pose, per_vertex=True)["vertex_strain"]
        first, shown = 0, []
        with demo.posed_by(copy, copies, rig):
            for ob in copies:
                part = strain[first : first + len(ob.data.vertices)]
                shown.append(posed_copy(stage.scene, ob, part))
                first += len(part)
        middle = stage.count * stage.step
        stage.add(shown, [])
        stage.text(title, Vector((middle, -0.5 * tall, 1.045 * tall)), 0.05 * tall)
    center = 0.5 * stage.step
    up = (HIGH - LOW) * tall
    at = (center, -6 * tall, 0.5 * (LOW + HIGH) * tall)
    scale = up * FEATURED[0] / FEATURED[1]
    render(stage, at, (math.radians(90), 0, 0), scale, FEATURED, path)


def bone_colors(ob, rows, names):
    """Return (n, 4) colors: the bone colors, mixed by the weights."""
    table = np.array([next((c for start, c in COLORS.items() if name.startswith(start)),
                           COLORS["finger"]) for name in names])  # fmt: skip
    mixed = np.zeros((len(ob.data.vertices), 3))
    np.add.at(mixed, rows.vertices, rows.weights[:, None] * table[rows.bones])
    return np.column_stack((mixed, np.ones(len(mixed))))


def icon(path):
    rig, meshes = generated.make_character()
    character = compare.Character(rig, meshes[:1])
    outcome, [body] = compare.our_weights(character)
    for bone in rig.pose.bones:
        bone.rotation_mode = "XYZ"
        angles = BEND.get(bone.name, (0, 0, 0))
        if bone.name.endswith(".L") and bone.name.startswith(tuple(generated.FINGERS)):
            angles = CURL
        bone.rotation_euler = [math.radians(a) for a in angles]
    bpy.context.view_layer.update()
    names = character.skeleton.names
    arm = [i for i, name in enumerate(names) if name.endswith(".L") and name.startswith(
        ("upper_arm", "forearm", "hand", "thumb", *generated.FINGERS))]  # fmt: skip
    dense = np.zeros((len(body.data.vertices), len(names)))
    dense[outcome.rows.vertices, outcome.rows.bones] = outcome.rows.weights
    stage = Stage(1.0)
    shown = posed_copy(stage.scene, body, np.zeros(len(dense)))
    color = bone_colors(body, outcome.rows, names)
    shown.data.color_attributes["Strain"].data.foreach_set("color", color.ravel())
    points = world_points(shown)[dense[:, arm].sum(1) > 0.5]
    rest = world_points(body)
    remove_vertices(shown.data, (rest[:, 0] < 0.03) | (abs(rest[:, 2] - 1.26) > 0.16))
    low, high = points.min(0), points.max(0)
    across = 1.12 * (high - low)[2]  # the cut through the shoulder is beyond the left edge
    center = Vector((high[0] + 0.10 * across - across / 2, 0, 0.5 * (low + high)[2]))
    world = stage.scene.world.node_tree.nodes["Background"]
    world.inputs["Color"].default_value = (*PAPER, 1)
    stage.scene.view_settings.exposure = 0.5
    render(stage, center + Vector((0, -5, 0)), (math.radians(90), 0, 0), across, (ICON, ICON), path)


def remove_vertices(mesh, gone):
    made = bmesh.new()
    made.from_mesh(mesh)
    made.verts.ensure_lookup_table()
    bmesh.ops.delete(made, geom=[made.verts[i] for i in np.flatnonzero(gone)], context="VERTS")
    made.to_mesh(mesh)
    made.free()


def main(zip_path, folder="docs/listing", *only):
    folder = Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    compare.install_extension(zip_path)
    for name, draw in (("icon.png", icon), ("featured.jpg", featured)):
        if only and name not in only:
            continue
        bpy.ops.wm.read_homefile(use_empty=True)  # the start-up file, not the preferences
        draw(folder / name)


if __name__ == "__main__":
    main(*sys.argv[sys.argv.index("--") + 1 :])
