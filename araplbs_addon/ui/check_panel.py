"""The panel "Check Weights" of the tab "Auto-weight": what is wrong with the present weights."""

import textwrap

import bpy
from bpy.types import Panel, UIList

from ..core.findings import NAMES, level
from ..core.repair_regions import BEYOND
from ..operators import check, repair
from ..operators.found import found

# Colors of the levels; the names of the icons are others before Blender 4.4.
_ICONS = bpy.types.UILayout.bl_rna.functions["label"].parameters["icon"].enum_items
_STRIP = "STRIP_COLOR_0" if "STRIP_COLOR_01" in _ICONS else "SEQUENCE_COLOR_0"
LEVEL_ICONS = {"high": f"{_STRIP}1", "medium": f"{_STRIP}2", "low": f"{_STRIP}3"}
LETTER = 6.5  # pixels, about
LEAST_LETTERS = 24


class DATA_UL_araplbs_findings(UIList):
    def draw_item(self, _context, layout, _data, item, _icon, _active, _property, index=0):
        if index >= len(found.findings):
            return
        finding = found.findings[index]
        row = layout.row(align=True)
        split = row.split(factor=0.6)
        split.label(text=NAMES[finding.kind], icon=LEVEL_ICONS[level(finding.severity)])
        split.label(text=found.place(finding))
        if finding.kind in BEYOND:
            layout.label(icon="BLANK1")
        else:
            layout.prop(item, "repair", text="")


class VIEW3D_PT_araplbs_check(Panel):
    bl_label = "Check Weights"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Auto-weight"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    @classmethod
    def poll(cls, context):
        return context.mode in {"OBJECT", "POSE", "PAINT_WEIGHT", "EDIT_MESH"}

    def draw(self, context):
        layout, shown = self.layout, context.window_manager.araplbs_check
        row = layout.row()
        row.scale_y = 1.5
        row.operator_context = "INVOKE_DEFAULT"
        row.operator(check.IDNAME, icon="VIEWZOOM")
        if not found.checked:
            return
        self._draw_notes(layout)
        if not found.findings:
            return
        layout.template_list(
            DATA_UL_araplbs_findings.__name__, "", shown, "findings", shown, "active", rows=5
        )
        self._draw_buttons(layout, shown)
        if 0 <= shown.active < len(found.findings):
            self._draw_words(context, layout, found.findings[shown.active])

    def _draw_notes(self, layout):
        column = layout.column(align=True)
        icon = "NONE" if found.findings else "CHECKMARK"
        column.label(text=check.counted(found.findings), icon=icon)
        for name in found.out_of_date[:1]:
            row = column.row()
            row.alert = True
            row.label(text=f"'{name}' changed: check again", icon="FILE_REFRESH")

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
        box = layout.box().column(align=True)
        letters = context.region.width / (LETTER * context.preferences.system.ui_scale)
        for line in wrapped(finding.words, int(letters) - 4):
            box.label(text=line)


def wrapped(text, letters):
    """Lines of at most so many letters."""
    return textwrap.wrap(text, max(letters, LEAST_LETTERS))
