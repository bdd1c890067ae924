"""The tab "Auto-weight" in the sidebar of the 3D view. Its settings are those of the scene."""

from bpy.types import Menu, Panel, UIList

from ..blender import control_bones
from ..blender.pose_sources import SourceCounts
from ..blender.targets import find_targets
from ..core.refusal import Refused
from ..core.report import names_in_line
from ..live.session import current_session
from ..operators import bake, bendy, bone_roles, edit, rigid, select_worst, transfer
from ..operators.auto_weight import IDNAME
from ..operators.live import OBJECT_OT_araplbs_accept, OBJECT_OT_araplbs_restore
from ..operators.load_preset import OBJECT_OT_araplbs_load_preset
from ..operators.properties import (
    draw_advanced_options,
    draw_pose_options,
    draw_result_options,
)
from ..operators.quantize import IDNAME as QUANTIZE
from ..operators.refine import IDNAME as REFINE
from ..operators.settings import settings_of
from ..operators.weight_new import IDNAME as WEIGHT_NEW
from . import deformer_view

_counts = SourceCounts()


class _InSidebar:
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Auto-weight"

    @classmethod
    def poll(cls, context):
        return context.mode in {"OBJECT", "PAINT_WEIGHT", "POSE"}

    def split_layout(self):
        self.layout.use_property_split = True
        self.layout.use_property_decorate = False
        return self.layout


class VIEW3D_MT_araplbs_presets(Menu):
    bl_label = "Presets"
    preset_subdir = f"operator/{IDNAME}"
    preset_operator = OBJECT_OT_araplbs_load_preset.bl_idname
    draw = Menu.draw_preset


class VIEW3D_PT_araplbs(_InSidebar, Panel):
    bl_label = "Auto-weight (ARAP)"

    def draw(self, context):
        layout = self.split_layout()
        self._draw_targets(context, layout)
        layout.menu("VIEW3D_MT_araplbs_presets")
        draw_result_options(layout, settings_of(context))
        row = layout.row()
        row.scale_y = 1.5
        row.operator_context = "INVOKE_DEFAULT"
        row.operator(IDNAME, text="Auto-weight", icon="MOD_VERTEX_WEIGHT")
        draw_session_buttons(layout)
        if not current_session():
            self._draw_refine(layout)

    def _draw_refine(self, layout):
        """Refining follows the same settings; what it starts from is its own."""
        row = layout.row(align=True)
        row.operator_context = "INVOKE_DEFAULT"
        for start_from, text, icon in (
            ("PRESENT", "Refine Live", "PLAY"),
            ("FRESH", "From Fresh", "FILE_REFRESH"),
        ):
            row.operator(REFINE, text=text, icon=icon).start_from = start_from

    def _draw_targets(self, context, layout):
        try:
            targets = find_targets(context, posing=True)
        except Refused as reason:
            layout.label(text=str(reason), icon="INFO")
            return
        column = layout.column(align=True)
        column.label(text=targets.armature.name, icon="ARMATURE_DATA")
        column.label(text=names_in_line([ob.name for ob in targets.meshes]), icon="MESH_DATA")


class VIEW3D_PT_araplbs_new(_InSidebar, Panel):
    """On its own: the tab has nothing else in Edit mode."""

    bl_label = "New Vertices"

    @classmethod
    def poll(cls, context):
        return context.mode in {"OBJECT", "PAINT_WEIGHT", "EDIT_MESH"}

    def draw(self, _context):
        column = self.layout.column()
        column.operator_context = "INVOKE_DEFAULT"
        column.operator(WEIGHT_NEW, icon="MOD_VERTEX_WEIGHT")


class VIEW3D_PT_araplbs_poses(_InSidebar, Panel):
    bl_label = "Poses"
    bl_parent_id = "VIEW3D_PT_araplbs"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw(self, context):
        armature, found = bone_roles.armature_at_hand(context), None
        if armature and armature.type == "ARMATURE":
            found = _counts.of(armature, context.scene)
        draw_pose_options(self.split_layout(), settings_of(context), found)


class VIEW3D_PT_araplbs_advanced(_InSidebar, Panel):
    bl_label = "Advanced"
    bl_parent_id = "VIEW3D_PT_araplbs"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw(self, context):
        draw_advanced_options(self.split_layout(), settings_of(context))


def draw_session_buttons(layout):
    """Nothing where no session is running."""
    if not current_session():
        return
    row = layout.row(align=True)
    row.operator(OBJECT_OT_araplbs_accept.bl_idname, icon="CHECKMARK")
    row.operator(OBJECT_OT_araplbs_restore.bl_idname, icon="X")


class DATA_UL_araplbs_edits(UIList):
    def draw_item(self, _context, layout, _data, item, _icon, _active, _property, _index=0):
        row = layout.row(align=True)
        row.active = item.use
        icon = item.bl_rna.properties["kind"].enum_items[item.kind].icon
        row.prop(item, "name", text="", emboss=False, icon=icon)
        row.label(text=item.bl_rna.properties["kind"].enum_items[item.kind].name)
        layout.prop(item, "use", text="")


class VIEW3D_PT_araplbs_edits(_InSidebar, Panel):
    bl_label = "Edits"
    bl_parent_id = "VIEW3D_PT_araplbs"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    @classmethod
    def poll(cls, context):
        ob = context.active_object
        return super().poll(context) and ob is not None and ob.type == "MESH"

    def draw(self, context):
        layout = self.layout
        settings = context.active_object.data.araplbs
        layout.template_list(
            DATA_UL_araplbs_edits.__name__, "", settings, "edits", settings, "active", rows=3
        )
        row = layout.row(align=True)
        row.operator(edit.OBJECT_OT_araplbs_select_edit.bl_idname, text="Select").index = -1
        row.operator(edit.OBJECT_OT_araplbs_remove_edit.bl_idname, text="Remove").index = -1
        column = layout.column(align=True)
        column.label(text="For the selected vertices:")
        name = edit.OBJECT_OT_araplbs_edit_vertices.bl_idname
        bone = edit.active_bone(context.active_object) or ""
        for kind, text, remove in (
            ("WEIGHT", "Pin Weight", False),
            ("INFLUENCE", "Add Influence", False),
            ("INFLUENCE", "Remove Influence", True),
            ("SMOOTH", "Smooth Weights", False),
        ):
            button = column.operator(name, text=text)
            button.kind, button.bone, button.remove_influence = kind, bone, remove
            if kind == "WEIGHT":
                button.weight = context.scene.araplbs_brush.weight
            button.strength = context.scene.araplbs_brush.strength
        column.operator(edit.OBJECT_OT_araplbs_add_link.bl_idname)
        column.operator(rigid.OBJECT_OT_araplbs_mark_rigid.bl_idname).source = "SELECTED"
        count = sum(item.kind == "RIGID" and item.use for item in settings.edits)
        text = f"Rigid Parts: {count}" if count else "Rigid Parts"
        layout.menu(rigid.VIEW3D_MT_araplbs_rigid.__name__, text=text)
        if context.mode != "PAINT_WEIGHT":
            layout.label(text="Brushes: Weight Paint mode", icon="INFO")


class VIEW3D_PT_araplbs_errors(_InSidebar, Panel):
    bl_label = "Deformation Error"
    bl_parent_id = "VIEW3D_PT_araplbs"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw(self, context):
        layout = self.layout
        layout.row(align=True).prop(context.window_manager, "araplbs_errors", expand=True)
        button = layout.operator(select_worst.OBJECT_OT_araplbs_select_worst.bl_idname)
        button.poses = "POSE" if context.window_manager.araplbs_errors == "POSE" else "POSES"


class VIEW3D_PT_araplbs_deformers(_InSidebar, Panel):
    bl_label = "Preview Deformer"
    bl_parent_id = "VIEW3D_PT_araplbs"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw(self, context):
        layout = self.layout
        layout.column(align=True).prop(context.window_manager, "araplbs_deformer", expand=True)
        if deformer_view.view.message:
            layout.label(text=deformer_view.view.message, icon="INFO")


class VIEW3D_PT_araplbs_bake(_InSidebar, Panel):
    bl_label = "Bake Modifiers"
    bl_parent_id = "VIEW3D_PT_araplbs"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw(self, _context):
        column = self.layout.column(align=True)
        column.operator_context = "INVOKE_DEFAULT"
        for poses, text, icon in (
            ("RANDOM", "Bake in Random Poses", "POSE_HLT"),
            ("SCENE", "Bake Scene Frames", "SCENE_DATA"),
            ("ALL", "Bake All Actions", "ACTION"),
        ):
            column.operator(bake.IDNAME, text=text, icon=icon).poses = poses


class VIEW3D_PT_araplbs_transfer(_InSidebar, Panel):
    bl_label = "Transfer Weights"
    bl_parent_id = "VIEW3D_PT_araplbs"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    @classmethod
    def poll(cls, context):
        return context.mode == "OBJECT"

    def draw(self, context):
        layout, settings = self.split_layout(), settings_of(context)
        transfer.draw_transfer_options(layout, settings.transfer, settings)
        row = layout.row(align=True)
        row.operator_context = "INVOKE_DEFAULT"
        row.operator(transfer.IDNAME, text="Transfer Weights", icon="MOD_DATA_TRANSFER")
        row.operator(transfer.SHOW, text="", icon="HIDE_OFF", depress=bool(transfer.shown))


class VIEW3D_PT_araplbs_bendy(_InSidebar, Panel):
    bl_label = "Game Export"
    bl_parent_id = "VIEW3D_PT_araplbs"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw(self, context):
        layout = self.layout
        layout.operator(bendy.IDNAME, text="Bendy Bones to Bones", icon="GROUP_BONE")
        layout.operator(QUANTIZE, icon="MOD_VERTEX_WEIGHT")
        ob = context.active_object
        material = ob.active_material if ob and ob.type == "MESH" else None
        if material:
            layout.prop(
                material, "araplbs_max_influences", text=f"Max Influences of {material.name}"
            )


class DATA_UL_araplbs_control_bones(UIList):
    def draw_item(self, _context, layout, _data, bone, _icon, _active, _property, _index=0):
        row = layout.row(align=True)
        row.label(text=bone.name, icon="BONE_DATA")
        row.label(text=control_bones.reason(bone))
        for operator, icon in (
            (bone_roles.OBJECT_OT_araplbs_take_in, "ADD"),
            (bone_roles.OBJECT_OT_araplbs_deform_off, "X"),
        ):
            row.operator(operator.bl_idname, text="", icon=icon).bone = bone.name

    def filter_items(self, _context, data, name):
        shown = self.bitflag_filter_item
        return [shown * control_bones.is_left_out(bone) for bone in getattr(data, name)], []


class VIEW3D_PT_araplbs_control_bones(_InSidebar, Panel):
    bl_label = "Control Bones"
    bl_parent_id = "VIEW3D_PT_araplbs"

    @classmethod
    def poll(cls, context):
        armature = bone_roles.armature_at_hand(context)
        return (
            super().poll(context)
            and armature is not None
            and any(control_bones.is_left_out(bone) for bone in armature.data.bones)
        )

    def draw(self, context):
        armature = bone_roles.armature_at_hand(context).data
        self.layout.template_list(
            DATA_UL_araplbs_control_bones.__name__,
            "",
            *(armature, "bones"),
            *(context.window_manager, "araplbs_control_bone"),
            rows=3,
        )
        row = self.layout.row(align=True)
        for operator in (
            bone_roles.OBJECT_OT_araplbs_take_in,
            bone_roles.OBJECT_OT_araplbs_deform_off,
        ):
            row.operator(operator.bl_idname, text=f"All: {operator.bl_label}").bone = ""


class BONE_PT_araplbs(Panel):
    bl_label = "Auto-weight (ARAP)"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "bone"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    @classmethod
    def poll(cls, context):
        return context.bone is not None

    def draw(self, context):
        self.layout.use_property_split = True
        self.layout.prop(context.bone, "araplbs_deformer")
        self.layout.prop(context.bone, "araplbs_deforms")
