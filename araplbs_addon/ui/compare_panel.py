"""Compare Methods in the sidebar."""

from bpy.types import Panel

from ..operators.compare import IDNAME, OBJECT_OT_araplbs_open_comparison, page_of
from ..operators.settings import settings_of
from .panel import _InSidebar


class VIEW3D_PT_araplbs_compare(_InSidebar, Panel):
    bl_label = "Compare Methods"
    bl_parent_id = "VIEW3D_PT_araplbs"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw(self, context):
        layout, settings = self.split_layout(), settings_of(context).comparison
        layout.prop(settings, "directory")
        layout.prop(settings, "judged_poses")
        layout.prop(settings, "judged_frames")
        row = layout.row()
        row.operator_context = "INVOKE_DEFAULT"
        row.operator(IDNAME, icon="VIEWZOOM")
        if page_of(settings.directory):
            layout.operator(OBJECT_OT_araplbs_open_comparison.bl_idname, icon="URL")
