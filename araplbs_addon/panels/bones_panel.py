"""The panel "Bones and Parts" for control bones, parts that keep their shape, and an artist's
corrections of single vertices. This module also adds the bone kind to the bone properties."""

from contextlib import suppress

import bpy
from araplbs.base.refusal import Refused
from bpy.props import IntProperty
from bpy.types import Panel, UIList, WindowManager

from ..blender.data.edits import edited_vertices
from ..blender.read import control_bones
from ..blender.read.targets import armature_at_hand
from ..blender.write.select_bones import select_bones
from ..features.check.look_at import bone_places, look_at, vertex_places
from ..features.control_bones import operator as bone_roles
from ..features.edits import operator as edit
from ..features.edits import rigid
from ..features.new_vertices.operator import IDNAME as WEIGHT_NEW
from ..languages.translate import translated
from ..operators.session import current_session
from ..operators.settings import settings_of
from ..operators.sidebar import (
    Closed,
    draw_named,
    draw_wrapped,
    grid_of_two,
    list_room,
    row_texts,
    unit,
)

# Actions on the selected vertices: (kind, text, whether the action removes an influence).
FOR_SELECTED = (
    ("WEIGHT", "Pin Weight", False),
    ("SMOOTH", "Smooth Weights", False),
    ("INFLUENCE", "Add Influence", False),
    ("INFLUENCE", "Remove Influence", True),
)


class DATA_UL_araplbs_control_bones(UIList):
    def draw_item(self, context, layout, _data, bone, _icon, _active, _property, _index=0):
        row = layout.row(align=True)
        row.label(text=text_of_bone(context, bone), icon="BONE_DATA", translate=False)
        for operator, icon in (
            (bone_roles.OBJECT_OT_araplbs_take_in, "ADD"),
            (bone_roles.OBJECT_OT_araplbs_deform_off, "X"),
        ):
            row.operator(operator.bl_idname, text="", icon=icon).bone = bone.name

    def filter_items(self, _context, data, name):
        shown = self.bitflag_filter_item
        return [shown * control_bones.is_left_out(bone) for bone in getattr(data, name)], []


def text_of_bone(context, bone):
    """The row of a control bone."""
    bones = [each for each in bone.id_data.bones if control_bones.is_left_out(each)]
    about = tuple((each.name, translated(control_bones.short_reason(each))) for each in bones)
    texts = row_texts(about, list_room(context) - 2 * unit(context))
    return texts[bones.index(bone)] if bone in bones else bone.name


def _chosen(_manager, context):
    """Selects the bone of the row that was clicked, and turns the view to it."""
    armature = armature_at_hand(context)
    number = context.window_manager.araplbs_control_bone
    if not has_control_bones(armature) or not 0 <= number < len(armature.data.bones):
        return
    name = armature.data.bones[number].name
    with suppress(Refused):  # hidden, or in Edit mode
        select_bones(context, armature, {name})
        context.view_layer.update()
        look_at(context, armature, bone_places(armature, name))


CONTROL_BONE = IntProperty(
    name="Control Bone",
    description="Click to select the bone and to turn the view to it",
    options={"SKIP_SAVE"},
    update=_chosen,
)


def _active_correction(_manager):
    ob = bpy.context.active_object
    return ob.data.araplbs.active if ob and ob.type == "MESH" else -1


def _choose_correction(_manager, index):
    """Selects the vertices of the row that was clicked, and turns the view to them. Strokes set the
    active correction, too, and turn nothing."""
    context, ob = bpy.context, bpy.context.active_object
    if not ob or ob.type != "MESH" or not 0 <= index < len(ob.data.araplbs.edits):
        return
    ob.data.araplbs.active = index
    with suppress(RuntimeError):  # the operator has reported why
        bpy.ops.object.araplbs_select_edit("EXEC_DEFAULT", True, index=index)
        vertices = edited_vertices(ob.data, ob.data.araplbs.edits[index])
        look_at(context, ob, vertex_places(context, ob, vertices))


CORRECTION = IntProperty(
    name="Correction",
    description="Click to select the vertices of the correction and to turn the view to them",
    options={"SKIP_SAVE"},
    get=_active_correction,
    set=_choose_correction,
)
PROPERTIES = (
    (WindowManager, "araplbs_control_bone", CONTROL_BONE),
    (WindowManager, "araplbs_correction", CORRECTION),
)


class DATA_UL_araplbs_edits(UIList):
    def draw_item(self, _context, layout, _data, item, _icon, _active, _property, _index=0):
        kind = item.bl_rna.properties["kind"].enum_items[item.kind]
        row = layout.row(align=True)
        row.active = item.use
        row.prop(item, "name", text="", emboss=False, icon=kind.icon)
        layout.prop(item, "use", text="")


class VIEW3D_PT_araplbs_bones(Closed, Panel):
    bl_label = "Bones and Parts"
    bl_parent_id = "VIEW3D_PT_araplbs"

    def draw(self, context):
        layout = self.split_layout()
        draw_named(layout, settings_of(context), "rigid_parts")
        armature = armature_at_hand(context)
        if has_control_bones(armature):
            self._draw_control_bones(context, layout, armature.data)
        ob = context.active_object
        if ob and ob.type == "MESH":
            layout.label(text="Corrections:")
            draw_corrections(layout, ob)
            if context.mode == "PAINT_WEIGHT" and is_masked(ob):
                draw_wrapped(layout, context, "At the selected vertices:")
                draw_for_selected(layout, context, ob)
            draw_rigid(layout, ob)
        layout.operator_context = "INVOKE_DEFAULT"
        if context.mode != "POSE":
            layout.operator(WEIGHT_NEW)

    def _draw_control_bones(self, context, layout, armature):
        draw_wrapped(layout, context, "Control bones that were left out:")
        layout.template_list(
            DATA_UL_araplbs_control_bones.__name__,
            "",
            *(armature, "bones"),
            *(context.window_manager, "araplbs_control_bone"),
            rows=3,
        )
        chosen = context.window_manager.araplbs_control_bone
        if 0 <= chosen < len(armature.bones) and control_bones.is_left_out(armature.bones[chosen]):
            bone = armature.bones[chosen]
            draw_wrapped(layout, context, f"{bone.name}: {control_bones.reason(bone)}", icon="INFO")
        column = layout.column(align=True)
        for operator in (
            bone_roles.OBJECT_OT_araplbs_take_in,
            bone_roles.OBJECT_OT_araplbs_deform_off,
        ):
            column.operator(
                operator.bl_idname, text=translated(f"All: {operator.bl_label}")
            ).bone = ""


def has_control_bones(armature):
    """Whether some bones of the armature were excluded."""
    return bool(armature) and any(map(control_bones.is_left_out, armature.data.bones))


def draw_corrections(layout, ob, rows=3):
    """Draws the corrections of a mesh, if there are any."""
    settings = ob.data.araplbs
    if settings.edits:
        row = layout.row(align=True)
        row.template_list(
            DATA_UL_araplbs_edits.__name__,
            "",
            *(settings, "edits"),
            *(bpy.context.window_manager, "araplbs_correction"),
            rows=rows,
        )
        column = row.column(align=True)
        select, remove = edit.OBJECT_OT_araplbs_select_edit, edit.OBJECT_OT_araplbs_remove_edit
        column.operator(select.bl_idname, text="", icon="RESTRICT_SELECT_OFF").index = -1
        column.operator(remove.bl_idname, text="", icon="REMOVE").index = -1


def draw_rigid(layout, ob, text="Mark Rigid Part"):
    """Draws the menu of rigid parts. Its button shows their number."""
    count = sum(item.kind == "RIGID" and item.use for item in ob.data.araplbs.edits)
    text = f"Rigid Parts: {count}" if count else text
    layout.menu(rigid.VIEW3D_MT_araplbs_rigid.__name__, text=text)


def is_masked(ob):
    """Whether a selection mask is enabled in Weight Paint mode."""
    mesh = ob.data
    return mesh.use_paint_mask_vertex or mesh.use_paint_mask


def draw_for_selected(layout, context, ob):
    """Draws buttons that change the selected vertices, which are visible through the mask. Returns
    the grid that contains the buttons."""
    grid = grid_of_two(layout, *(text for _kind, text, _remove in FOR_SELECTED))
    bone = edit.active_bone(ob) or ""
    for kind, text, remove in FOR_SELECTED:
        button = grid.operator(edit.OBJECT_OT_araplbs_edit_vertices.bl_idname, text=text)
        button.kind, button.bone, button.remove_influence = kind, bone, remove
        if kind == "WEIGHT":
            button.weight = context.scene.araplbs_brush.weight
        button.strength = context.scene.araplbs_brush.strength
    grid.operator(edit.OBJECT_OT_araplbs_add_link.bl_idname)
    return grid


class BONE_PT_araplbs(Panel):
    bl_label = "Auto-weight (ARAP)"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "bone"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context):
        return context.bone is not None

    def draw(self, context):
        self.layout.use_property_split = True
        if current_session():
            self.layout.enabled = False
            self.layout.label(text="Locked while a session runs", icon="LOCKED")
        self.layout.prop(context.bone, "araplbs_deformer")
        self.layout.prop(context.bone, "araplbs_deforms")
