"""Operators that change the edits of the active mesh. Brushes and lists call them, and scripts can
call them as well.

During a session, these changes count as strokes of the session. Otherwise, each change is one undo
step."""

from contextlib import contextmanager

import bpy
import numpy as np
from araplbs.base.refusal import Refused
from araplbs.character.mirror_images import images_of
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty
from bpy.types import Operator

from ...blender.data.binding import armature_of
from ...blender.data.edits import (
    KINDS,
    OF_NO_BONE,
    SEVERAL,
    add_link,
    edited_vertices,
    find_edit,
    paint_edit,
    read_values,
    remove_edit,
)
from ...blender.data.mesh_shape import points_of, values_of
from ...blender.read.read_armature import opposite_bone
from ...blender.write.select_region import select_vertices
from ...languages.translate import warn
from ...operators.session import current_session
from ...operators.settings import settings_of

LEAST_SPLIT = 0.02  # weight by which two mirrored pins exceed 1; less is not visible


@contextmanager
def one_change(label, ob):
    """Groups the changes of an object's edits in the block into one undo step."""
    session = current_session()
    is_stroke = session and session.frame and ob in session.objects()
    before = session.copy_edits() if is_stroke else None
    yield
    if is_stroke:
        session.note_edit(before)
    elif not bpy.app.background:
        bpy.ops.ed.undo_push(message=label)


class OfMesh:
    bl_options = {"REGISTER"}
    edit_mode = False  # whether it also works in Edit mode

    @classmethod
    def poll(cls, context):
        ob = context.active_object
        if not ob or ob.type != "MESH":
            raise Refused("The active object is not a mesh")
        if ob.mode == "EDIT" and not cls.edit_mode:
            raise Refused("Not in Edit mode")
        if ob.data.library or ob.data.override_library:
            raise Refused("The mesh belongs to another file")
        return True


class OBJECT_OT_araplbs_edit_vertices(OfMesh, Operator):
    """Pin the weight of a bone at the selected vertices, add or remove its influence there, \
release them from it, or let the weights of all bones vary smoothly there"""

    bl_idname = "object.araplbs_edit_vertices"
    bl_label = "Edit Selected Vertices"

    kind: EnumProperty(name="Kind", items=[item for item in KINDS if item[0] not in SEVERAL])
    bone: StringProperty(
        name="Bone",
        description="Name of the bone. If empty, the bone of the active vertex group is used",
    )
    weight: FloatProperty(name="Weight", description="Target weight", default=1.0, min=0.0, max=1.0)
    strength: FloatProperty(
        name="Strength",
        description="Strength of the smoothing (Smooth Weights only)",
        default=1.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
    )
    remove_influence: BoolProperty(
        name="Remove Influence", description="The bone must not move these vertices"
    )
    clear: BoolProperty(name="Clear", description="Undo the edit for these vertices")

    def execute(self, context):
        ob = context.active_object
        has_bone = self.kind not in OF_NO_BONE
        bone = self.bone or active_bone(ob) if has_bone else ""
        selected = values_of(ob.data.vertices, "select", bool)
        if has_bone:
            refuse_bone(ob, bone)
        if not selected.any():
            raise Refused(f"No vertex of '{ob.name}' is selected")
        value = {
            "WEIGHT": 1 + self.weight,
            "INFLUENCE": -1 if self.remove_influence else 1,
            "RELEASE": 1,
            "SMOOTH": self.strength,
        }[self.kind]
        with one_change(self.bl_label, ob):
            paint_edit(ob.data, self.kind, bone, selected, 0 if self.clear else value)
        if self.kind == "WEIGHT" and not self.clear:
            tell_split(self, context, bone, np.flatnonzero(selected))
        return {"FINISHED"}


def tell_split(operator, context, bone, vertices):
    """Says how many of these vertices Symmetric keeps from the weight to which they are pinned:
    the bone on the other side has the mirrored weights, and together, the two would exceed 1."""
    session, ob = current_session(), context.active_object
    symmetric = (session.task.options if session else settings_of(context)).symmetric
    item, image = find_edit(ob.data, "WEIGHT", bone), opposite_bone(armature_of(ob), bone)
    if not symmetric or not item or image == bone:
        return
    wanted = np.clip(read_values(ob.data, item) - 1, 0, 1)
    pairs = images_of(points_of(ob.data), vertices)
    count = int((wanted[vertices[pairs[:, 0]]] + wanted[pairs[:, 1]] > 1 + LEAST_SPLIT).sum())
    if count:
        which = "1 vertex" if count == 1 else f"{count} vertices"
        warn(operator, f"Symmetric: '{bone}' and '{image}' share {which} in the middle equally")


def active_bone(ob):
    """Name of the active vertex group, or None."""
    return ob.vertex_groups.active.name if ob.vertex_groups.active else None


def refuse_bone(ob, bone):
    """Raises Refused if this bone cannot have an edit."""
    if not bone:
        raise Refused(f"'{ob.name}' has no active vertex group: specify a bone")
    if not takes_edits(ob, bone):
        raise Refused(f"'{bone}' is not a deform bone of '{armature_of(ob).name}'")


def takes_edits(ob, bone):
    """Whether the group belongs to a deform bone, as far as this can be determined."""
    armature = armature_of(ob)
    bones = armature.data.bones if armature else {}
    return not armature or (bone in bones and bones[bone].use_deform)


class OBJECT_OT_araplbs_add_link(OfMesh, Operator):
    """Link two vertices, given by index or selected, so that the parts they belong to move \
together"""

    bl_idname = "object.araplbs_add_link"
    bl_label = "Link Vertices"

    first: IntProperty(name="First", description="Index of a vertex", default=-1, min=-1)
    second: IntProperty(name="Second", description="Index of a vertex", default=-1, min=-1)

    def execute(self, context):
        ob = context.active_object
        ends = [self.first, self.second]
        if ends == [-1, -1]:
            ends = [v.index for v in ob.data.vertices if v.select]
            if len(ends) != 2:
                raise Refused(f"{len(ends)} vertices of '{ob.name}' are selected instead of 2")
        wrong = [end for end in ends if not 0 <= end < len(ob.data.vertices)]
        if wrong or ends[0] == ends[1]:
            raise Refused(f"'{ob.name}' cannot link vertices {ends[0]} and {ends[1]}")
        with one_change(self.bl_label, ob):
            add_link(ob.data, *ends)
        return {"FINISHED"}


INDEX = IntProperty(
    name="Index", description="Index in the list; -1 for the active entry", default=-1
)


class _OfItem(OfMesh):
    @classmethod
    def poll(cls, context):
        super().poll(context)
        if not context.active_object.data.araplbs.edits:
            raise Refused("The mesh has no edits")
        return True

    def find(self, context):
        """The index of the edit in the list. Raises Refused if the edit is not in the list."""
        settings = context.active_object.data.araplbs
        index = settings.active if self.index < 0 else self.index
        if not 0 <= index < len(settings.edits):
            raise Refused(f"There is no edit {index}: the list has {len(settings.edits)}")
        return index


class OBJECT_OT_araplbs_remove_edit(_OfItem, Operator):
    """Remove the edit from the mesh"""

    bl_idname = "object.araplbs_remove_edit"
    bl_label = "Remove Edit"

    index: INDEX

    def execute(self, context):
        index = self.find(context)
        with one_change(self.bl_label, context.active_object):
            remove_edit(context.active_object.data, index)
        return {"FINISHED"}


class OBJECT_OT_araplbs_select_edit(_OfItem, Operator):
    """Select only the vertices that the edit affects"""

    bl_idname = "object.araplbs_select_edit"
    bl_label = "Select Vertices of Edit"
    bl_options = {"REGISTER", "UNDO"}

    index: INDEX

    def execute(self, context):
        index = self.find(context)
        mesh = context.active_object.data
        select_vertices(mesh, edited_vertices(mesh, mesh.araplbs.edits[index]))
        return {"FINISHED"}


CLASSES = (
    OBJECT_OT_araplbs_edit_vertices,
    OBJECT_OT_araplbs_add_link,
    OBJECT_OT_araplbs_remove_edit,
    OBJECT_OT_araplbs_select_edit,
)
