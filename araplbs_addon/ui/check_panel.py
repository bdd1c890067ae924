"""The panel "Check and Repair": faults of the weights, their places, and their worst poses."""

import bpy
from araplbs.features.check.beyond_repair import BEYOND
from araplbs.features.check.findings import NAMES, level
from bpy.types import Panel, UIList

from ..features.check import operator as check
from ..features.check import show_pose
from ..features.check.findings_list import found
from ..features.compare.operator import OBJECT_OT_araplbs_open_comparison, page_of
from ..features.edits import bone_shares, select_worst
from ..features.repair import operator as repair
from ..languages.translate import translated
from ..window import deformer_view, error_view
from ..window.settings import settings_of
from ..window.sidebar import InTab, draw_large, draw_wrapped

# Colors of the levels; the names of the icons are others before Blender 4.4.
_ICONS = bpy.types.UILayout.bl_rna.functions["label"].parameters["icon"].enum_items
_STRIP = "STRIP_COLOR_0" if "STRIP_COLOR_01" in _ICONS else "SEQUENCE_COLOR_0"
LEVEL_ICONS = {"high": f"{_STRIP}1", "medium": f"{_STRIP}2", "low": f"{_STRIP}3"}


class DATA_UL_araplbs_findings(UIList):
    def draw_item(self, _context, layout, _data, item, _icon, _active, _property, index=0):
        if index >= len(found.findings):
            return
        finding = found.findings[index]
        row = layout.row(align=True)
        split = row.split(factor=0.7)  # names of findings are the longer ones
        split.label(text=NAMES[finding.kind], icon=LEVEL_ICONS[level(finding.severity)])
        split.label(text=found.place(finding))
        if finding.kind in BEYOND:
            layout.label(icon="BLANK1")
        else:
            layout.prop(item, "repair", text="")


class VIEW3D_PT_araplbs_check(InTab, Panel):
    bl_label = "Check and Repair"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012
    own_modes = (*InTab.own_modes, "EDIT_MESH")

    def draw(self, context):
        layout, shown = self.layout, context.window_manager.araplbs_check
        draw_large(layout, check.IDNAME, icon="VIEWZOOM")
        if found.checked:
            self._draw_notes(layout)
        if found.findings:
            layout.template_list(
                DATA_UL_araplbs_findings.__name__, "", shown, "findings", shown, "active", rows=5
            )
            self._draw_buttons(layout, shown)
            if 0 <= shown.active < len(found.findings):
                self._draw_words(context, layout, found.findings[shown.active])
        if show_pose.posed_rig():
            layout.operator(show_pose.BACK, icon="LOOP_BACK")
        self._draw_maps(context, layout)

    def _draw_notes(self, layout):
        column = layout.column(align=True)
        icon = "NONE" if found.findings else "CHECKMARK"
        column.label(text=translated(check.counted(found.findings)), icon=icon)
        for name in found.out_of_date[:1]:
            row = column.row()
            row.alert = True
            row.label(text=translated(f"'{name}' changed: check again"), icon="FILE_REFRESH")

    def _draw_buttons(self, layout, shown):
        row = layout.row(align=True)
        sub = row.row(align=True)
        sub.enabled = shown.active >= 0
        sub.operator(check.SELECT, text="Select", icon="RESTRICT_SELECT_OFF").index = -1
        sub.operator(check.VIEW, text="View", icon="ZOOM_SELECTED").index = -1
        row.prop(shown, "show", text="", icon="HIDE_OFF" if shown.show else "HIDE_ON")
        row = layout.row(align=True)
        row.operator_context = "INVOKE_DEFAULT"
        row.enabled = not found.out_of_date
        sub = row.row(align=True)
        sub.enabled = shown.active >= 0
        sub.operator(repair.IDNAME, text="Repair", icon="TOOL_SETTINGS").which = "ACTIVE"
        row.operator(repair.IDNAME, text="Repair Marked").which = "MARKED"

    def _draw_words(self, context, layout, finding):
        box = layout.box().column()
        draw_wrapped(box, context, finding.words)
        if show_pose.has_pose(finding):
            box.operator(show_pose.IDNAME, icon="POSE_HLT").index = -1

    def _draw_maps(self, context, layout):
        manager = context.window_manager
        layout.label(text="Colors on the mesh:")
        error_view.draw_choice(layout, context)
        if manager.araplbs_errors != "NONE" and error_view.view.message:
            draw_wrapped(layout, context, error_view.view.message, icon="INFO", indent=8)
        if manager.araplbs_errors in error_view.OF_STRETCH:
            button = layout.operator(select_worst.OBJECT_OT_araplbs_select_worst.bl_idname)
            button.poses = "POSE" if manager.araplbs_errors == "POSE" else "POSES"
        if context.mode == "PAINT_WEIGHT":
            bone_shares.draw_choice(layout, context)
        layout.prop(manager, "araplbs_deformer", text="Preview")
        if deformer_view.view.message:
            draw_wrapped(layout, context, deformer_view.view.message, icon="INFO", indent=8)
        if page_of(settings_of(context).comparison.directory):
            layout.operator(OBJECT_OT_araplbs_open_comparison.bl_idname, icon="URL")
