"""Rows of odd scenes: objects that follow bones, poses and animation, places and parents."""

import math

import bpy
import numpy as np
from mathutils import Matrix
from odd_table import (
    BOUND,
    PLACED,
    ROUNDED,
    SCENES,
    Odd,
    add_empty,
    child_of,
    drive,
    key,
    odd,
    on_bone,
    row,
    turn,
)
from scenes import (
    add_armature,
    add_tube,
    bind,
    rotation,
    tube_and_rig,
)

# Objects that follow bones.


@odd(atol=ROUNDED, said=("'Tube' also follows bones as an object",))
def bound_on_a_posed_bone(tube, rig):
    on_bone(tube, rig)
    turn(rig)


@row
def unbound_on_a_posed_bone():
    rig, tube = add_armature(), add_tube()
    on_bone(tube, rig)
    turn(rig)
    return Odd(tube, rig, BOUND + PLACED, atol=ROUNDED)


@row
def unbound_under_what_is_on_a_posed_bone():
    rig, tube, empty = add_armature(), add_tube(), add_empty()
    on_bone(empty, rig, "upper")
    place = tube.matrix_world.copy()
    tube.parent = empty
    tube.matrix_parent_inverse = empty.matrix_world.inverted() @ place
    turn(rig)
    return Odd(tube, rig, BOUND + PLACED, atol=ROUNDED)


@odd(atol=ROUNDED, said=("'Tube' also follows bones as an object",))
def bound_child_of_a_posed_bone(tube, rig):
    child_of(tube, rig)
    turn(rig)


@row
def unbound_child_of_a_posed_bone():
    rig, tube = add_armature(), add_tube()
    child_of(tube, rig)
    turn(rig)
    may = (*BOUND, *PLACED, ".constraints[0].mute", ".constraints[0].enabled")
    said = ("the constraints that did so before are muted: Child Of",)
    return Odd(tube, rig, may, atol=ROUNDED, said=said)


@odd(atol=ROUNDED, said=("'Tube' also follows bones as an object",))
def armature_constraint_of_the_object(tube, rig):
    constraint = tube.constraints.new("ARMATURE")
    target = constraint.targets.new()
    target.target, target.subtarget = rig, "middle"
    turn(rig)


@odd(atol=ROUNDED, said=("'Tube' also follows bones as an object",))
def driven_by_a_posed_bone(tube, rig):
    tube.parent = None
    drive(tube, "location", (1,), rig, "upper", space="WORLD_SPACE")
    turn(rig)
    assert abs(tube.matrix_world.translation.y) > 0.3


@odd(atol=ROUNDED, said=("'Tube' also follows bones as an object",))
def on_a_vertex_of_what_is_posed(tube, rig):
    skin = add_tube("Skin")
    bind(skin, rig)
    skin.vertex_groups.new(name="upper").add(range(len(skin.data.vertices)), 1.0, "REPLACE")
    tube.parent, tube.parent_type = skin, "VERTEX"
    tube.parent_vertices = (191, 0, 0)  # the upper end
    tube.matrix_parent_inverse = Matrix.Translation((0, 0, -3))
    bpy.context.view_layer.update()
    assert np.allclose(tube.matrix_world, np.eye(4), atol=1e-6)
    turn(rig)
    assert not np.allclose(tube.matrix_world, np.eye(4), atol=0.1)


@odd(atol=ROUNDED)
def on_a_bone_of_another_rig(tube, rig):
    tube.parent = None
    other = add_armature("Other")
    on_bone(tube, other)
    turn(other)


@odd(atol=ROUNDED)
def rig_and_mesh_on_a_bone_of_another_rig(tube, rig):
    other = add_armature("Other")
    on_bone(rig, other)
    turn(other)


# Poses and animation.


@odd()
def posed(tube, rig):
    turn(rig)
    rig.pose.bones["upper"].scale = 1.5, 0.7, 1.5


@odd()
def rest_position(tube, rig):
    turn(rig)
    rig.data.pose_position = "REST"


@row
def on_a_bone_in_rest_position():
    tube, rig = bound_on_a_posed_bone().tube, bpy.data.objects["Rig"]
    rig.data.pose_position = "REST"
    return Odd(tube, rig, atol=ROUNDED, said=("'Tube' also follows bones as an object",))


@odd()
def constrained_rig(tube, rig):
    goal = add_empty("Goal", Matrix.Translation((0, 1, 1.5)))
    constraint = rig.pose.bones["upper"].constraints.new("IK")
    constraint.target = goal
    bpy.context.view_layer.update()


@odd(atol=ROUNDED, said=("'Tube' also follows bones as an object",))
def posed_by_hand_over_an_action(tube, rig):
    """The visible pose has no key, and must still be there afterwards."""
    on_bone(tube, rig)
    posed = rig.pose.bones["middle"]
    posed.rotation_mode = "XYZ"
    key(posed, "rotation_euler", ((1, (0, 0, 0)), (20, (1, 0, 0))))
    key(rig, "location", ((1, (0, 0, 0)), (20, (0, 0, 0))))
    bpy.context.scene.frame_set(7)
    turn(rig, angle=-0.9)


@odd(atol=ROUNDED, said=("'Tube' also follows bones as an object",))
def animated_objects(tube, rig):
    """The rig walks, and the tube is a child of its bone."""
    on_bone(tube, rig)
    key(rig, "location", ((1, (0, 0, 0)), (20, (0, 9, 0))))
    key(tube, "location", ((1, (0, 0, 5)), (12, (0, 0, 0))))
    turn(rig)
    bpy.context.scene.frame_set(12)


@odd()
def nla(tube, rig):
    posed = rig.pose.bones["middle"]
    posed.rotation_mode = "XYZ"
    for _ in range(2):
        key(posed, "rotation_euler", ((1, (0, 0, 0)), (20, (1, 0, 0))))
        data = rig.animation_data
        track = data.nla_tracks.new()
        track.strips.new(data.action.name, 5, data.action)
        data.action = None
    track.strips[0].influence = 0.25
    bpy.context.scene.frame_set(12)


@odd(atol=1.0)
def drivers(tube, rig):
    turn(rig, "lower", 0.5)
    drive(rig.pose.bones["upper"], "location", (0,), rig, "lower", "ROT_X", "2 * var")
    tube.shape_key_add(name="Basis")
    tube.shape_key_add(name="Bulge").data[5].co.x += 0.5
    drive(tube.data.shape_keys.key_blocks["Bulge"], "value", (), rig, "lower", "ROT_X")


# Places and parents.


def under_parent(*matrices):
    """Rig and tube are below a chain of Empties, at the same positions as without the chain."""
    tube, rig = tube_and_rig()
    parent = None
    for i, matrix in enumerate(matrices):
        empty = add_empty(f"Parent {i}")
        empty.matrix_basis = matrix
        empty.parent, parent = parent, empty
    rig.parent = parent
    bpy.context.view_layer.update()
    return tube, rig


@row
def mirrored_parent():
    return Odd(*under_parent(Matrix.Diagonal((-1, 1, 1, 1))), atol=ROUNDED)


@row
def sheared_parents():
    shear = (Matrix.Diagonal((1, 3, 0.5, 1)), rotation(40, "X") @ rotation(20, "Z"))
    return Odd(*under_parent(*shear), atol=ROUNDED)


@odd(atol=ROUNDED)
def mirrored_mesh(tube, rig):
    """Only the mesh object is mirrored, and its vertices compensate for this."""
    tube.data.transform(Matrix.Diagonal((1, -1, 1, 1)))
    tube.matrix_basis = Matrix.Diagonal((1, -1, 1, 1))
    tube.data.update()


@odd(atol=ROUNDED)
def sheared_mesh(tube, rig):
    shear = Matrix(((1, 0.5, 0, 0), (0, 1, 0.25, 0), (0, 0, 1, 0), (0, 0, 0, 1)))
    tube.data.transform(shear.inverted())
    tube.matrix_parent_inverse = shear


@odd()
def delta_transforms(tube, rig):
    tube.delta_location = 1, 2, 3
    tube.location = -1, -2, -3


def scaled(mesh=(1, 1, 1), rig=(1, 1, 1)):
    """Objects with these scales, whose vertices and bones compensate for them."""
    tube, skeleton = add_tube(), add_armature(matrix=Matrix.Diagonal((*rig, 1)))
    tube.data.transform(Matrix.Diagonal([r / m for r, m in zip(rig, mesh, strict=True)] + [1]))
    tube.scale = mesh
    bpy.context.view_layer.update()
    tube.modifiers.new("Armature", "ARMATURE").object = skeleton
    return Odd(tube, skeleton, atol=ROUNDED)


for of in ("mesh", "rig"):
    for scale in (0.01, 1e-8, 1e8, -1.0, -1e-8, (1e-4, 1.0, 1e4)):
        each = scale if isinstance(scale, tuple) else (scale,) * 3
        SCENES[f"{of}_scaled_by_{scale}"] = lambda o=of, s=each: scaled(**{o: s})


SCENES["both_scaled"] = lambda: scaled((1e8,) * 3, (1e-8,) * 3)


def useless(of, matrix, refused):
    tube, rig = tube_and_rig()
    tube.parent = None
    {"mesh": tube, "rig": rig}[of].matrix_basis = matrix
    bpy.context.view_layer.update()
    return Odd(tube, rig, refused=refused)


for of, name in (("mesh", "Tube"), ("rig", "Rig")):
    for kind, matrix in (
        ("nothing", Matrix.Diagonal((0, 0, 0, 1))),
        ("a_plane", Matrix.Diagonal((1, 0, 1, 1))),
    ):
        SCENES[f"{of}_scaled_to_{kind}"] = lambda o=of, m=matrix, n=name: useless(
            o, m, f"'{n}' has a scale of zero"
        )
    SCENES[f"{of}_nowhere"] = lambda o=of, n=name: useless(
        o, Matrix.Translation((math.inf, 0, 0)), f"'{n}' has a transform that is not finite"
    )
