"""The tab "Auto-weight" in the sidebar of the 3D view.

Its settings are those that the operator was last used with: Blender keeps them, and the operator
starts with them from every menu too.
"""

from bpy.types import Menu, Panel

from ..blender.targets import find_targets
from ..core.errors import Refused
from ..core.report import names_in_line
from ..operators.auto_weight import IDNAME
from ..operators.load_preset import OBJECT_OT_araplbs_load_preset
from ..operators.properties import (
    draw_advanced_options,
    draw_pose_options,
    draw_result_options,
)


def _settings(context):
    return context.window_manager.operator_properties_last(IDNAME)


class _InSidebar:
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Auto-weight"

    @classmethod
    def poll(cls, context):
        return context.mode in {"OBJECT", "PAINT_WEIGHT"}

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
        draw_result_options(layout, _settings(context))
        row = layout.row()
        row.scale_y = 1.5
        row.operator_context = "INVOKE_DEFAULT"
        row.operator(IDNAME, text="Auto-weight", icon="MOD_VERTEX_WEIGHT")

    def _draw_targets(self, context, layout):
        try:
            targets = find_targets(context)
        except Refused as reason:
            layout.label(text=str(reason), icon="INFO")
            return
        column = layout.column(align=True)
        column.label(text=targets.armature.name, icon="ARMATURE_DATA")
        column.label(text=names_in_line([ob.name for ob in targets.meshes]), icon="MESH_DATA")


class VIEW3D_PT_araplbs_poses(_InSidebar, Panel):
    bl_label = "Poses"
    bl_parent_id = "VIEW3D_PT_araplbs"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw(self, context):
        draw_pose_options(self.split_layout(), _settings(context))


class VIEW3D_PT_araplbs_advanced(_InSidebar, Panel):
    bl_label = "Advanced"
    bl_parent_id = "VIEW3D_PT_araplbs"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw(self, context):
        draw_advanced_options(self.split_layout(), _settings(context))
