"""Generates a character: a humanoid skeleton with hands, a body around the skeleton (rounded cones,
joined by a voxel remesh and smoothed), and loose parts on the body."""

import math
import random

import bmesh
import bpy
from mathutils import Matrix, Vector

VOXEL = 0.011  # meters

# name: (head, tail, parent, radius at the head, at the tail); meters, facing -Y, left is +X.
SPINE = {
    "hips": ((0, 0.01, 0.90), (0, 0.005, 1.00), None, 0.120, 0.108),
    "spine": ((0, 0.005, 1.00), (0, 0.0, 1.13), "hips", 0.108, 0.118),
    "chest": ((0, 0.0, 1.13), (0, 0.012, 1.32), "spine", 0.125, 0.105),
    "neck": ((0, 0.012, 1.36), (0, -0.002, 1.46), "chest", 0.056, 0.050),
    "head": ((0, -0.002, 1.46), (0, -0.012, 1.72), "neck", 0.048, 0.030),
}
LEFT = {
    "shoulder": ((0.025, 0.005, 1.34), (0.145, 0.015, 1.345), "chest", 0.075, 0.066),
    "upper_arm": ((0.165, 0.015, 1.34), (0.405, 0.03, 1.285), "shoulder", 0.060, 0.045),
    "forearm": ((0.405, 0.03, 1.285), (0.625, 0.0, 1.235), "upper_arm", 0.046, 0.031),
    "hand": ((0.625, 0.0, 1.235), (0.705, -0.005, 1.217), "forearm", 0.029, 0.029),
    "thigh": ((0.088, 0.01, 0.865), (0.098, -0.008, 0.475), "hips", 0.092, 0.060),
    "shin": ((0.098, -0.008, 0.475), (0.103, 0.022, 0.095), "thigh", 0.060, 0.038),
    "foot": ((0.103, 0.022, 0.095), (0.113, -0.115, 0.036), "shin", 0.045, 0.040),
    "toe": ((0.113, -0.115, 0.036), (0.118, -0.185, 0.032), "foot", 0.038, 0.031),
}
# Fingers: y of the knuckle, lengths of the phalanges, drift in y.
FINGERS = {
    "index": (-0.040, (0.050, 0.033, 0.028), -0.12),
    "middle": (-0.002, (0.053, 0.036, 0.029), 0.0),
    "ring": (0.035, (0.048, 0.032, 0.027), 0.14),
}
FINGER_RADIUS = (0.0165, 0.0155, 0.0145, 0.0130)
THUMB = (
    *((0.645, -0.025, 1.226), (0.672, -0.062, 1.208)),
    *((0.697, -0.092, 1.196), (0.718, -0.113, 1.188)),
)
# Outlines that do not follow from the bones: palms, heels, seat, ribs, skull, jaw.
FILLING = (
    ((0.640, -0.016, 1.231), (0.712, -0.030, 1.216), 0.026, 0.022),
    ((0.640, 0.012, 1.231), (0.712, 0.030, 1.216), 0.026, 0.022),
    ((0.105, 0.045, 0.045), (0.108, 0.010, 0.050), 0.040, 0.042),
    ((0.075, 0.045, 0.900), (0.080, 0.045, 0.860), 0.085, 0.075),
    ((0.045, 0.0, 1.30), (0.060, 0.004, 1.20), 0.092, 0.082),
    ((0.0, -0.020, 1.610), (0.0, -0.005, 1.640), 0.095, 0.105),
    ((0.0, -0.045, 1.515), (0.0, -0.040, 1.560), 0.042, 0.065),
)


def bones():
    """Return all bones of both sides: {name: (head, tail, parent, radius, tail radius)}."""
    left = dict(LEFT)
    for name, (y, lengths, drift) in FINGERS.items():
        joint, parent = Vector((0.715, y, 1.216)), "hand"
        for i, length in enumerate(lengths):
            tip = joint + Vector((1, drift, -0.16 - 0.05 * i)).normalized() * length
            key = f"{name}_{i + 1}"
            left[key] = (tuple(joint), tuple(tip), parent, *FINGER_RADIUS[i : i + 2])
            joint, parent = tip, key
    for i in range(3):
        parent = f"thumb_{i}" if i else "hand"
        left[f"thumb_{i + 1}"] = (THUMB[i], THUMB[i + 1], parent, *FINGER_RADIUS[i : i + 2])
    result = dict(SPINE)
    for side, sign in (("L", 1), ("R", -1)):
        flip = Matrix.Diagonal((sign, 1, 1))
        for name, (head, tail, parent, *radii) in left.items():
            parent = f"{parent}.{side}" if parent in left else parent
            result[f"{name}.{side}"] = (flip @ Vector(head), flip @ Vector(tail), parent, *radii)
    return result


def make_armature(collection):
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for name, (head, tail, parent, *_) in bones().items():
        bone = rig.data.edit_bones.new(name)
        bone.head, bone.tail = head, tail
        # Hinges bend about the local X axis of every bone: the roll turns Z to the front, and
        # upward for the hands.
        across = (bone.tail - bone.head).normalized().z
        bone.align_roll((0, -1, 0) if abs(across) > 0.7 else (0, 0, 1))
        if parent:
            bone.parent = rig.data.edit_bones[parent]
            bone.use_connect = (bone.head - bone.parent.tail).length < 1e-6
    bpy.ops.object.mode_set(mode="OBJECT")
    rig.show_in_front = True
    return rig


def add_cone(mesh, head, tail, radius, tail_radius):
    """Add the convex hull of two spheres. The hull is built in a separate mesh, because the run
    time of an operation grows with the size of its mesh."""
    cone = bmesh.new()
    for center, r in ((head, radius), (tail, tail_radius)):
        bmesh.ops.create_uvsphere(
            cone, u_segments=16, v_segments=10, radius=r, matrix=Matrix.Translation(center)
        )
    hull = bmesh.ops.convex_hull(cone, input=cone.verts)
    inner = hull["geom_interior"] + hull["geom_unused"]
    bmesh.ops.delete(cone, geom=[g for g in set(inner) if isinstance(g, bmesh.types.BMVert)])
    made = bpy.data.meshes.new("Cone")
    cone.to_mesh(made)
    cone.free()
    mesh.from_mesh(made)
    bpy.data.meshes.remove(made)


def make_body(collection):
    solid = bmesh.new()
    for head, tail, _parent, radius, tail_radius in bones().values():
        add_cone(solid, head, tail, radius, tail_radius)
    for head, tail, radius, tail_radius in FILLING:
        for sign in (1, -1):
            flip = Matrix.Diagonal((sign, 1, 1))
            add_cone(solid, flip @ Vector(head), flip @ Vector(tail), radius, tail_radius)
    for vertex in solid.verts:  # bodies are broader than deep
        if vertex.co.z > 0.8 and abs(vertex.co.x) < 0.2:
            vertex.co.y *= 0.88
    mesh = bpy.data.meshes.new("Body")
    solid.to_mesh(mesh)
    solid.free()
    body = bpy.data.objects.new("Body", mesh)
    collection.objects.link(body)
    remesh = body.modifiers.new("Remesh", "REMESH")
    remesh.mode, remesh.voxel_size, remesh.use_smooth_shade = "VOXEL", VOXEL, True
    smooth = body.modifiers.new("Smooth", "SMOOTH")
    smooth.factor, smooth.iterations = 0.6, 6
    evaluated = body.evaluated_get(bpy.context.evaluated_depsgraph_get())
    body.data = bpy.data.meshes.new_from_object(evaluated)
    body.modifiers.clear()
    bpy.data.meshes.remove(mesh)
    body.data.name = "Body"
    return body


def make_ball(collection, body, name, outside, towards, radius, scale):
    """Create a flattened ball, set into the body at the point where the ray from `outside` along
    `towards` meets it."""
    towards = Vector(towards).normalized()
    hit, place, normal, _face = body.ray_cast(outside, towards)
    if not hit:
        raise ValueError(f"{name}: no body from {outside} towards {tuple(towards)}")
    ball = bmesh.new()
    bmesh.ops.create_uvsphere(ball, u_segments=20, v_segments=12, radius=radius)
    mesh = bpy.data.meshes.new(name)
    ball.to_mesh(mesh)
    ball.free()
    mesh.polygons.foreach_set("use_smooth", [True] * len(mesh.polygons))
    turn = normal.to_track_quat("Z", "Y").to_matrix().to_4x4()
    mesh.transform(Matrix.Translation(place) @ turn @ Matrix.Diagonal((*scale, 1)))
    part = bpy.data.objects.new(name, mesh)
    collection.objects.link(part)
    return part


def make_character():
    """Create (rig, [mesh objects]) in a new collection of the scene."""
    collection = bpy.data.collections.new("Character")
    bpy.context.scene.collection.children.link(collection)
    rig = make_armature(collection)
    body = make_body(collection)
    bpy.context.view_layer.update()
    front = (0, 1, 0)
    parts = [
        make_ball(collection, body, "Eye.L", (0.038, -1, 1.60), front, 0.024, (0.8, 1, 0.6)),
        make_ball(collection, body, "Eye.R", (-0.038, -1, 1.60), front, 0.024, (0.8, 1, 0.6)),
        make_ball(collection, body, "Pouch", (1, -0.5, 0.93), (-1, 0.5, 0), 0.055, (0.9, 1, 0.6)),
    ]
    for i, z in enumerate((1.02, 1.11, 1.20)):
        name, start = f"Button.{i + 1}", (0, -1, z)
        parts.append(make_ball(collection, body, name, start, front, 0.017, (1, 1, 0.5)))
    return rig, [body, *parts]


# Rotations in degrees about the local X (bends), Y (along the bone: twists) and Z.
POSE = {
    "hips": (0, -8, 0), "spine": (8, -10, -4), "chest": (6, -14, -4), "neck": (-4, 12, 0),
    "head": (-8, 18, 6),
    "shoulder.L": (14, 0, 0), "upper_arm.L": (30, 0, -6), "forearm.L": (88, 30, 0),
    "hand.L": (-20, 0, 0),
    "shoulder.R": (-4, 0, 6), "upper_arm.R": (-46, 0, 28), "forearm.R": (-12, 20, 100),
    "hand.R": (24, 0, 0),
    "thigh.L": (78, 0, -6), "shin.L": (-104, 0, 0), "foot.L": (-14, 0, 0), "toe.L": (0, 0, 0),
    "thigh.R": (-16, 0, 4), "shin.R": (-14, 0, 0), "foot.R": (12, 0, 0), "toe.R": (18, 0, 0),
    **{f"{finger}_{i}.R": (-38, 0, 0) for finger in FINGERS for i in (1, 2, 3)},
    **{f"{finger}_{i}.L": (-10, 0, 0) for finger in FINGERS for i in (1, 2, 3)},
}  # fmt: skip


def apply_pose(rig):
    for name, angles in POSE.items():
        bone = rig.pose.bones[name]
        bone.rotation_mode = "XYZ"
        bone.rotation_euler = [math.radians(a) for a in angles]
    bpy.context.view_layer.update()


def displace_joints(rig, off=0.022, seed=7):
    """Displace joints at random by about this distance, less for short bones, and symmetrically on
    both sides."""
    numbers = random.Random(seed)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bones = rig.data.edit_bones
    for bone in [b for b in bones if b.parent and not b.name.endswith(".R")]:
        move = Vector([numbers.gauss(0, 1) for _axis in range(3)])
        if not bone.name.endswith(".L"):
            move.x = 0
        move *= off * min(1, bone.length / 0.1) / move.length
        place = bone.head.copy()
        if (place - bone.parent.tail).length < 1e-4:
            bone.parent.tail = place + move
        for each in bone.parent.children:
            if each == bone or (each.head - place).length < 1e-4:
                each.head = place + move
    for bone in [b for b in bones if b.name.endswith(".L")]:
        other = bones[bone.name[:-1] + "R"]
        other.head, other.tail = bone.head, bone.tail
        other.head.x, other.tail.x = -other.head.x, -other.tail.x
    bpy.ops.object.mode_set(mode="OBJECT")
