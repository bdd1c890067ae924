"""Draws the picture docs/joints/arm.png: an arm with displaced joints, and the same arm with
optimized joints.

joints.py ZIP PICTURE.png, in a headless Blender (tools/run_blender.sh)"""

import math
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import bmesh
import bpy
import character as generated
import compare
import numpy as np
from mathutils import Matrix, Quaternion, Vector
from picture import INK, Stage, colors, material, skin_material

SHOWN_FROM = 0.17  # meters along X: the left arm
# Degrees about the axis across the picture, equal for all bones regardless of their local axes.
POSE = {
    "forearm.L": -65,
    "hand.L": 30,
    **{f"{finger}_{i}.L": 30 for finger in generated.FINGERS for i in (1, 2, 3)},
}
OFF = 0.03  # meters
HEIGHT, STEP = 0.40, 0.70  # meters: height of a row, and distance between two columns
STAGES = ("displaced joints, weighted for them", "the same, optimized", "the original joints")


def make(stage):
    """Create a weighted (rig, body). stage: 0 for displaced joints, 1 for joints optimized from
    there, 2 for joints as built."""
    bpy.ops.wm.read_homefile(use_empty=True)
    rig, meshes = generated.make_character()
    if stage < 2:
        generated.displace_joints(rig, OFF)
    compare.select(rig, meshes)
    if stage == 1:
        bpy.ops.object.araplbs_joints("EXEC_DEFAULT", anchor=0.0)
    else:
        bpy.ops.object.araplbs_auto_weight("EXEC_DEFAULT")
    return rig, max(meshes, key=lambda ob: len(ob.data.vertices))


def look(rig, body):
    """Return the arrays to draw: {name: arrays}."""
    strains = compare.part("blender.read.deformation_errors").object_strain
    layer = bpy.context.view_layer
    every = strains(body, layer, False)
    rest, faces = arrays(body)
    bones = [
        b for b in rig.data.bones if b.name.endswith(".L") and b.head_local.x > SHOWN_FROM - 0.02
    ]
    bones = [b for b in bones if b.head_local.z > 1]
    joints = np.array([(b.head_local, b.tail_local) for b in bones])
    for name, angle in POSE.items():
        bone = rig.pose.bones[name]
        axis = bone.bone.matrix_local.to_3x3().transposed() @ Vector((0, 1, 0))
        bone.rotation_mode = "QUATERNION"
        bone.rotation_quaternion = Quaternion(axis, math.radians(angle))
    layer.update()
    strain = strains(body, layer, True)
    evaluated = body.evaluated_get(bpy.context.evaluated_depsgraph_get())
    posed, _faces = arrays(evaluated)
    shown = (rest[faces, 0] > SHOWN_FROM).all(axis=1) & (rest[faces, 2] > 1).all(axis=1)
    arm = np.unique(faces[shown])
    return {
        "rest": rest, "posed": posed, "faces": faces[shown], "strain": strain, "bones": joints,
        "mean": mean(every), "arm": mean(every[arm]), "here": mean(strain[arm]),
    }  # fmt: skip


def mean(strain):
    return math.sqrt(float((strain**2).mean()))


def arrays(ob):
    mesh = ob.data
    mesh.calc_loop_triangles()
    points = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", points)
    faces = np.empty(3 * len(mesh.loop_triangles), np.int32)
    mesh.loop_triangles.foreach_get("vertices", faces)
    return points.reshape(-1, 3).astype(float), faces.reshape(-1, 3)


def add_surface(scene, points, faces, strain, place):
    used, index = np.unique(faces, return_inverse=True)
    mesh = bpy.data.meshes.new("Arm")
    mesh.from_pydata(points[used].tolist(), [], index.reshape(-1, 3).tolist())
    mesh.polygons.foreach_set("use_smooth", [True] * len(mesh.polygons))
    if strain is None:
        glass = material("Glass", (0.30, 0.34, 0.40), 0.5)
        glass.node_tree.nodes["Principled BSDF"].inputs["Alpha"].default_value = 0.30
        mesh.materials.append(glass)
    else:
        attribute = mesh.color_attributes.new("Strain", "FLOAT_COLOR", "POINT")
        attribute.data.foreach_set("color", colors(strain[used]).ravel())
        mesh.materials.append(skin_material())
    ob = bpy.data.objects.new("Arm", mesh)
    ob.location = place
    scene.collection.objects.link(ob)


def add_bones(scene, bones, place):
    """Add sticks with a ball at each joint."""
    made = bmesh.new()
    for head, tail in bones:
        along = Vector(tail) - Vector(head)
        radius = min(0.007, 0.1 * along.length)
        ball = Matrix.Translation(head)
        bmesh.ops.create_uvsphere(made, u_segments=16, v_segments=8, radius=radius, matrix=ball)
        turn = along.to_track_quat("Z", "Y").to_matrix().to_4x4()
        bmesh.ops.create_cone(
            made, segments=12, radius1=0.6 * radius, radius2=0.1 * radius, depth=along.length,
            matrix=Matrix.Translation(Vector(head) + along / 2) @ turn,
        )  # fmt: skip
    mesh = bpy.data.meshes.new("Bones")
    made.to_mesh(mesh)
    mesh.materials.append(material("Ink", INK, 1.0))
    ob = bpy.data.objects.new("Bones", mesh)
    ob.location = place
    scene.collection.objects.link(ob)


def draw(looks, path):
    stage = Stage(HEIGHT)
    scene = stage.scene
    corner = Vector((-SHOWN_FROM, 0, -1.2))
    for k, (title, one) in enumerate(zip(STAGES, looks, strict=True)):
        place = Vector((k * STEP, 0, 0))
        add_surface(scene, one["rest"], one["faces"], None, corner + place)
        add_bones(scene, one["bones"], corner + place)
        low = place - Vector((0, 0, HEIGHT + 0.05))
        add_surface(scene, one["posed"], one["faces"], one["strain"], corner + low)
        caption = (
            f"Stretch in random poses {100 * one['mean']:.1f} %, "
            f"of the arm {100 * one['arm']:.1f} %"
        )
        for text, down, size in ((title, 0.25, 0.034), (caption, 0.205, 0.026)):
            stage.text(text, place + Vector((0.30, -0.5, down)), size)
    middle = 0.30 + STEP
    stage.legend((middle, -0.5, -HEIGHT - 0.17), 0.9, 0.024)
    data = bpy.data.cameras.new("Camera")
    data.type, data.ortho_scale = "ORTHO", 3.1 * STEP
    camera = bpy.data.objects.new("Camera", data)
    camera.location = (middle, -5, -0.17)
    camera.rotation_euler = (math.radians(90), 0, 0)
    scene.collection.objects.link(camera)
    scene.camera = camera
    scene.render.resolution_x, scene.render.resolution_y = 1600, 800
    scene.render.filepath = str(path)
    bpy.ops.render.render(write_still=True, scene=scene.name)


def main(zip_path, path):
    compare.install_extension(zip_path)
    looks = [look(*make(stage)) for stage in range(3)]
    draw(looks, Path(path).resolve())
    for title, one in zip(STAGES, looks, strict=True):
        numbers = ", ".join(f"{key} {100 * one[key]:.2f} %" for key in ("mean", "arm", "here"))
        print(f"{title}: {numbers}")


main(*sys.argv[sys.argv.index("--") + 1 :])
sys.stdout.flush()
os._exit(0)
