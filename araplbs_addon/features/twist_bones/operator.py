"""The operators "Add Twist Bones" and "Remove Twist Bones"."""

from contextlib import contextmanager
from math import pi

import bpy
import numpy as np
from araplbs.base.affine import moved
from araplbs.base.refusal import Refused
from araplbs.base.sentence import names_in_line
from araplbs.measures.new_twist_bones import (
    KINDS,
    helpful,
    missing_twist_bones,
    shared_weights,
)
from araplbs.model.sparse_weights import join_sparse_weights
from araplbs.skeleton.skeleton import of_weighted
from araplbs.skeleton.twist_bones import merged_weights
from bpy.props import BoolProperty, EnumProperty
from bpy.types import Operator

from ...blender.data.binding import is_deformed_by
from ...blender.data.bones import upward
from ...blender.data.mesh_shape import triangle_vertices
from ...blender.read.read_armature import read_armature
from ...blender.read.read_mesh import (
    coordinates,
    matrix_between,
    present_weights,
    refuse_edited,
    refuse_linked,
    refuse_locked,
)
from ...blender.read.targets import armature_at_hand
from ...blender.write.all_or_nothing import all_or_nothing
from ...blender.write.edit_bones import editing
from ...blender.write.write_weights import write_weights
from ...languages.translate import inform
from ...operators.menu_entries import Placed
from ...operators.session import refuse_session
from ...operators.settings import present_options

ADD = "object.araplbs_add_twist_bones"
CONSTRAINT = "Twist (ARAP)"
ADDED = "araplbs_twist_bone"  # property of the bones that Remove Twist Bones removes


class _OfArmature(Placed):
    bl_options = {"REGISTER", "UNDO"}
    icon = "GROUP_BONE"

    @classmethod
    def poll(cls, context):
        refuse_session()
        armature = armature_at_hand(context)
        if armature is None:
            raise Refused("Select an armature, or a mesh with one")
        refuse_linked(armature)
        refuse_edited(context.active_object, armature)
        return True

    def execute(self, context):
        armature = armature_at_hand(context)
        users = [o for o in bpy.data.objects if o.data == armature.data and o != armature]
        if users:
            raise Refused(
                f"'{armature.name}' shares its bones with '{users[0].name}': make the armature's "
                "data single-user first"
            )
        meshes = {o.data: o for o in self.objects(context) if is_deformed_by(o, armature)}
        meshes = [each for each in meshes.values() if each.type == "MESH" and each.vertex_groups]
        for mesh in meshes:
            refuse_linked(mesh)
            refuse_edited(mesh)
        skeleton = read_armature(armature, use_joint_limits=False)
        inform(self, self.change(context, armature, skeleton, meshes))
        return {"FINISHED"}


class OBJECT_OT_araplbs_add_twist_bones(_OfArmature, Operator):
    """Add bones that take half of the twist of upper arms, forearms and thighs, so that twisted \
limbs keep their shape. The new bones follow by constraints, and share the weights of their limbs"""

    bl_idname = ADD
    bl_label = "Add Twist Bones"
    places = (("VIEW3D_MT_pose", 46), ("VIEW3D_MT_object_parent", 71))

    kinds: EnumProperty(
        name="Limbs",
        items=KINDS,
        default={kind for kind, _name, _about in KINDS},
        options={"ENUM_FLAG"},
    )
    only_helpful: BoolProperty(
        name="Only Where They Help",
        description="Leave out limbs whose skin would not stretch less if they twist",
        default=True,
    )

    @staticmethod
    def objects(context):
        return context.view_layer.objects  # others are not in place

    def change(self, context, armature, skeleton, meshes):
        if not self.kinds:
            raise Refused("No limbs are chosen")
        rows = [present_weights(mesh, skeleton) for mesh in meshes]
        every = join_sparse_weights(rows) if meshes else None
        if every is not None and len(every.bones):
            skeleton = of_weighted(skeleton, every)
        taken = {group.name for mesh in meshes for group in mesh.vertex_groups}
        bones = missing_twist_bones(skeleton, upward(armature), self.kinds, taken)
        most, m = present_options(context).max_influences, len(skeleton.names)
        limbs = np.isin(np.arange(m), [bone.limb for bone in bones])
        for mesh in meshes:
            refuse_locked(mesh, skeleton, limbs)
        points = [
            moved(coordinates(mesh), matrix_between(mesh, armature, context.view_layer))
            for mesh in meshes
        ]
        if self.only_helpful and every is not None and len(every.bones):
            first = np.cumsum([0] + [len(each) for each in points])
            corners = [triangle_vertices(m.data) + k for m, k in zip(meshes, first, strict=False)]
            whole = np.concatenate(points), np.concatenate(corners)
            bones = helpful(*whole, every, skeleton, bones, most)
        names = [bone.name for bone in bones]
        with all_or_nothing(meshes, armature, made=None), _added(armature, skeleton.names, bones):
            for mesh, own, at in zip(meshes, rows, points, strict=True):
                shared = shared_weights(at, own, bones, m, most)
                changed = np.append(limbs, np.ones(len(bones), bool))
                _write(mesh, shared, [*skeleton.names, *names], changed)
        return f"Added twist bones: {names_in_line(names)}"


class OBJECT_OT_araplbs_remove_twist_bones(_OfArmature, Operator):
    """Remove the bones that Add Twist Bones has added. The bones of the limbs get their weights"""

    bl_idname = "object.araplbs_remove_twist_bones"
    bl_label = "Remove Twist Bones"
    places = (("VIEW3D_MT_pose", 47), ("VIEW3D_MT_object_parent", 72))

    @staticmethod
    def objects(_context):
        return bpy.data.objects  # would lose the weights of these bones

    def change(self, _context, armature, skeleton, meshes):
        posed = [bone for bone in armature.data.bones if ADDED in bone]
        names = [bone.name for bone in posed if bone.parent]
        if not names:
            raise Refused(f"'{armature.name}' has no bones from Add Twist Bones")
        for ob in bpy.data.objects:
            if ob.parent == armature and ob.parent_type == "BONE" and ob.parent_bone in names:
                raise Refused(f"'{ob.name}' is a child of the bone '{ob.parent_bone}'")
        limbs = {
            skeleton.names.index(bone.name): skeleton.names.index(bone.parent.name)
            for bone in posed
            if bone.parent
        }
        changed = np.isin(np.arange(len(skeleton.names)), [*limbs, *limbs.values()])
        skeleton.deform = skeleton.deform | changed
        for mesh in meshes:
            refuse_locked(mesh, skeleton, changed)
        with all_or_nothing(meshes, armature, made=None):
            for mesh in meshes:
                rows = merged_weights(present_weights(mesh, skeleton), limbs)
                _write(mesh, rows, skeleton.names, changed)
            with editing(armature) as bones:
                for name in names:
                    bones.remove(bones[name])
        for mesh in meshes:
            for name in names:
                if name in mesh.vertex_groups:
                    mesh.vertex_groups.remove(mesh.vertex_groups[name])
        return f"Removed twist bones: {names_in_line(names)}"


def _write(mesh, rows, names, which):
    used = np.isin(np.arange(len(names)), rows.bones)
    write_weights(mesh, rows, names, used & which, which, np.ones(rows.count, bool))


@contextmanager
def _added(armature, names, twist_bones):
    """Adds the bones, with their constraints, and removes them again if the block raises."""
    with editing(armature) as bones:
        for new in twist_bones:
            limb, bone = bones[names[new.limb]], bones.new(new.name)
            bone.head, bone.tail = new.head, new.tail
            bone.align_roll(limb.z_axis)
            bone.parent, bone.use_deform = limb, True
    bpy.context.view_layer.update()  # creates the pose of the new bones
    for new in twist_bones:
        bone = armature.data.bones[new.name]
        bone[ADDED] = True
        for collection in armature.data.bones[names[new.limb]].collections:
            collection.assign(bone)
        _follow(armature, new, names[new.source])
    try:
        yield
    except BaseException:
        with editing(armature) as bones:
            for new in twist_bones:
                bones.remove(bones[new.name])
        raise


def _follow(armature, bone, source):
    """Rotates a twist bone about its axis by a share of the twist of its source. Read in the rest
    orientation of the twist bone, this is the twist about the axis of the limb, even if the source
    points elsewhere."""
    constraint = armature.pose.bones[bone.name].constraints.new("TRANSFORM")
    constraint.name = CONSTRAINT
    constraint.target, constraint.subtarget = armature, source
    constraint.owner_space, constraint.target_space = "LOCAL", "LOCAL_OWNER_ORIENT"
    constraint.map_from = constraint.map_to = "ROTATION"
    constraint.from_rotation_mode = "SWING_TWIST_Y"
    constraint.use_motion_extrapolate = True
    constraint.from_min_y_rot, constraint.from_max_y_rot = -pi, pi
    constraint.map_to_y_from = "Y"
    constraint.to_min_y_rot, constraint.to_max_y_rot = -pi * bone.share, pi * bone.share
    constraint.mix_mode_rot = "AFTER"


CLASSES = (OBJECT_OT_araplbs_add_twist_bones, OBJECT_OT_araplbs_remove_twist_bones)
