"""The panel "Check and Repair", which lists faults of the weights with their locations and worst
poses."""

import bpy
from araplbs.features.check.findings import counted, level
from araplbs.features.check.kinds import KIND_OF
from bpy.types import Panel, UIList

from ..features.auto_weight.operator import IDNAME as AUTO_WEIGHT
from ..features.check import give_part, mend_mesh, show_pose
from ..features.check import operator as check
from ..features.check.findings_list import found
from ..features.compare.operator import ASK as COMPARE
from ..features.compare.operator import OBJECT_OT_araplbs_open_comparison, page_of_file
from ..features.deform_with.operator import OBJECT_OT_araplbs_deform_with
from ..features.edits import hover, select_worst
from ..features.edits.rigid import MARK as MARK_RIGID
from ..features.joints.operator import IDNAME as JOINTS
from ..features.quantize.operator import IDNAME as QUANTIZE
from ..features.repair import operator as repair
from ..languages.translate import translated
from ..operators import deformer_view, error_view
from ..operators.sidebar import (
    InTab,
    abreast,
    draw_large,
    draw_named,
    draw_narrow,
    draw_wrapped,
    list_room,
    row_texts,
    unit,
)

# Colors of the levels. The icons have other names before Blender 4.4.
_ICONS = bpy.types.UILayout.bl_rna.functions["label"].parameters["icon"].enum_items
_STRIP = "STRIP_COLOR_0" if "STRIP_COLOR_01" in _ICONS else "SEQUENCE_COLOR_0"
LEVEL_ICONS = {"high": f"{_STRIP}1", "medium": f"{_STRIP}2", "low": f"{_STRIP}3"}
RESULT_ICONS = {"BETTER": "TRIA_DOWN", "UNCHANGED": "REMOVE", "REPAIRED": "CHECKMARK"}
# The operator of each cure, with its options.
CURES = {
    "Optimize Joints": (JOINTS, {}),
    "Use Joints": (AUTO_WEIGHT, {"bone_directions": "JOINTS"}),
    "Quantize Weights": (QUANTIZE, {}),
    "Mark Rigid Part": (MARK_RIGID, {"source": "SELECTED"}),
    "Give Part to Bone": (give_part.IDNAME, {}),  # with the names of bones as texts
    "Merge Vertices": (mend_mesh.IDNAME, {}),
    "Smooth Surface": (mend_mesh.IDNAME, {}),
    "Remove Vertices": (mend_mesh.IDNAME, {}),
}


def _draw_cure(layout, finding):
    text = KIND_OF[finding.kind].cure
    idname, options = CURES[text]
    row = layout.row()
    row.operator_context = "INVOKE_DEFAULT"
    if idname == give_part.IDNAME:
        choice = give_part.choice(finding)
        for number, bone in enumerate(choice.offered[1] if choice else ()):
            row.operator(idname, text=bone, translate=False).other = number
        return
    button = row.operator(idname, text=text)
    for name, value in options.items():
        setattr(button, name, value)


class DATA_UL_araplbs_findings(UIList):
    def draw_item(self, context, layout, _data, item, _icon, _active, _property, index=0):
        if index >= len(found.rows):
            return
        finding, is_left = found.rows[index], index < len(found.findings)
        result = found.result(index) if is_left else None
        names = (translated(KIND_OF[each.kind].name) for each in found.rows)
        about = tuple(zip(map(found.place, found.rows), names, strict=True))
        room = list_room(context) - (unit(context) if any(found.list.results) else 0)
        text = row_texts(about, room)[index]
        icon = LEVEL_ICONS[level(finding.severity)] if is_left else "CHECKMARK"
        row = layout.row(align=True)
        row.active = is_left
        row.label(text=text, icon=icon, translate=False)
        if result:
            row.label(icon=RESULT_ICONS[result.result])
        if not is_left or not KIND_OF[finding.kind].is_repairable:
            row.label(icon="BLANK1")
        else:
            row.prop(item, "repair", text="")

    def filter_items(self, _context, data, name):
        """Sorts all rows by severity, so repaired findings stay among the others."""
        items, helpers = getattr(data, name), bpy.types.UI_UL_list
        shown = []
        if self.filter_name:
            flag = self.bitflag_filter_item
            shown = helpers.filter_items_by_name(self.filter_name, flag, items, "name")
        if self.use_filter_sort_alpha:
            return shown, helpers.sort_items_by_name(items, "name")
        return shown, by_severity(found.rows)


def by_severity(findings):
    """The position of each finding in a list that begins with the worst finding."""
    order = sorted(range(len(findings)), key=lambda k: -findings[k].severity)
    return sorted(range(len(order)), key=order.__getitem__)


class VIEW3D_PT_araplbs_check(InTab, Panel):
    bl_label = "Check and Repair"
    bl_options = {"DEFAULT_CLOSED"}
    own_modes = (*InTab.own_modes, "EDIT_MESH")

    def draw(self, context):
        layout, shown = self.layout, context.window_manager.araplbs_check
        draw_large(layout, check.IDNAME, icon="VIEWZOOM")
        if found.checked:
            self._draw_notes(context, layout)
        if found.rows:
            layout.template_list(
                DATA_UL_araplbs_findings.__name__, "", shown, "findings", shown, "active", rows=5
            )
            self._draw_buttons(layout, shown)
            if 0 <= shown.active < len(found.findings):
                self._draw_words(context, layout, shown.active)
        if show_pose.posed_rig():
            layout.operator(show_pose.BACK, icon="LOOP_BACK")
        self._draw_maps(context, layout)

    def _draw_notes(self, context, layout):
        column = layout.column(align=True)
        icon = "NONE" if found.findings else "CHECKMARK"
        draw_wrapped(column, context, counted(found.findings), icon=icon)
        if found.repaired:
            draw_wrapped(column, context, f"{len(found.repaired)} repaired", icon="CHECKMARK")
        for name in found.out_of_date[:1]:
            row = column.row()
            row.alert = True
            draw_wrapped(row, context, f"'{name}' has changed: check it again", icon="FILE_REFRESH")

    def _draw_buttons(self, layout, shown):
        is_chosen = 0 <= shown.active < len(found.findings)
        row = layout.row(align=True)
        sub = abreast(row, "Select", "View", others=1.0, icons=True)  # and the eye button
        sub.enabled = is_chosen
        sub.operator(check.SELECT, text="Select", icon="RESTRICT_SELECT_OFF").index = -1
        sub.operator(check.VIEW, text="View", icon="ZOOM_SELECTED").index = -1
        row.prop(shown, "show", text="", icon="HIDE_OFF" if shown.show else "HIDE_ON")
        row = abreast(layout, "Repair", "Repair Marked", icons=True)
        row.operator_context = "INVOKE_DEFAULT"
        row.enabled = bool(found.findings) and not found.out_of_date
        sub = row.row(align=True)
        sub.enabled = is_chosen
        sub.operator(repair.IDNAME, text="Repair", icon="TOOL_SETTINGS").which = "ACTIVE"
        row.operator(repair.IDNAME, text="Repair Marked").which = "MARKED"

    def _draw_words(self, context, layout, index):
        finding, result = found.findings[index], found.result(index)
        box = layout.box().column()
        draw_wrapped(box, context, finding.words)
        if result:
            words = result.words or "Improved by the repair, but still found"
            draw_wrapped(box, context, words, icon=RESULT_ICONS[result.result])
        draw_wrapped(box, context, KIND_OF[finding.kind].cause, icon="QUESTION")
        if KIND_OF[finding.kind].cure:
            _draw_cure(box, finding)
        if show_pose.has_pose(finding):
            box.operator(show_pose.IDNAME, icon="POSE_HLT").index = -1

    def _draw_maps(self, context, layout):
        manager = context.window_manager
        layout.label(text="Colors on the mesh:")
        error_view.draw_choice(layout, context)
        if manager.araplbs_errors != "NONE" and error_view.view.message:
            draw_wrapped(layout, context, error_view.view.message, icon="INFO")
        if manager.araplbs_errors in error_view.OF_STRETCH:
            idname = select_worst.OBJECT_OT_araplbs_select_worst.bl_idname
            button = draw_narrow(layout, idname, "Select Worst Vertices", "Select")
            button.poses = "POSE" if manager.araplbs_errors == "POSE" else "POSES"
        if context.mode == "PAINT_WEIGHT":
            hover.draw_choice(layout, context)
        draw_named(layout, manager, "araplbs_deformer", text="Preview")
        if deformer_view.view.message:
            draw_wrapped(layout, context, deformer_view.view.message, icon="INFO")
        OBJECT_OT_araplbs_deform_with.draw_choice(layout, context)
        column = layout.column(align=True)
        column.operator_context = "INVOKE_DEFAULT"
        column.operator(COMPARE)
        if page_of_file():
            column.operator(OBJECT_OT_araplbs_open_comparison.bl_idname, icon="URL")
