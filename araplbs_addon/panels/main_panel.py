"""The first panel of the tab, with one button, five choices and one result. While a session runs,
its controls replace this content."""

import bpy
from araplbs.base.refusal import Refused
from bpy.types import Panel

from ..blender.read.targets import find_targets
from ..features.auto_weight import presets, result
from ..features.auto_weight.limb import PICK as PICK_LIMB
from ..features.auto_weight.mirror_painted import IDNAME as MIRROR
from ..features.auto_weight.operator import IDNAME
from ..features.auto_weight.outcome import free_bones, outcome_at_hand
from ..features.auto_weight.refine import IDNAME as REFINE
from ..features.new_vertices.operator import IDNAME as WEIGHT_NEW
from ..features.report_problem.operator import IDNAME as REPORT_PROBLEM
from ..features.touch_up import operator as locks
from ..features.touch_up.reach import IDNAME as REACH
from ..languages.translate import translated
from ..operators import manual
from ..operators.session import current_session
from ..operators.settings import settings_of
from ..operators.sidebar import (
    InTab,
    draw_checkbox,
    draw_large,
    draw_named,
    draw_narrow,
    draw_wrapped,
    grid_of_two,
    panel_room,
    shortened,
    text_room,
    text_width,
    unit,
)
from ..operators.work import progress_at_hand
from .result_box import draw_result
from .session_box import draw_session

# Buttons for single bones and limbs: operator, its option, text.
TOUCH_UP = {
    (locks.IDNAME, locks.SELECTED): "Lock Selected",
    (locks.IDNAME, locks.OTHERS): "Lock Others",
    (locks.IDNAME, locks.NONE): "Unlock All",
    (PICK_LIMB, ""): "One Limb",
    (REACH, ""): "Reach",
    (MIRROR, ""): "Mirror Side",
}
HEADER = 10  # units for the panel name and two buttons
FIRST_CHECK = 0.4  # share of the row with two choices
AROUND_CHECK = 1.3  # units around the name of a choice


class VIEW3D_PT_araplbs(InTab, Panel):
    bl_label = "Auto-weight (ARAP)"
    own_modes = (*InTab.own_modes, "EDIT_MESH")

    def draw_header_preset(self, context):
        row = self.layout.row(align=True)
        row.operator_context = "INVOKE_DEFAULT"
        if panel_room(context) > HEADER * unit(context):
            row.operator(REPORT_PROBLEM, text="", icon="GREASEPENCIL", emboss=False)
        manual.draw_button(row)

    def draw(self, context):
        layout = self.split_layout()
        if current_session():
            draw_session(layout, context)
        elif context.mode == "EDIT_MESH":
            draw_large(layout, WEIGHT_NEW, icon="MOD_VERTEX_WEIGHT")
        else:
            self._draw_work(context, layout)

    def _draw_work(self, context, layout):
        settings = settings_of(context)
        targets = self._draw_targets(context, layout)
        self._draw_buttons(context, layout)
        self._draw_presets(layout, settings)
        draw_named(layout, settings, "max_influences")
        draw_named(layout, settings, "bone_spring_stiffness", slider=True)
        split = _checks(layout, settings)
        split.use_property_split = False
        split.prop(settings, "symmetric")
        split.prop(settings, "link_parts")
        if targets and targets.armature.mode == "POSE":
            self._draw_choice(layout, settings, targets.armature)
        if targets and context.mode != "OBJECT":
            self._draw_touch_up(layout)
        outcome = outcome_at_hand(context)
        if outcome:
            draw_result(layout, context, outcome)
        elif result.with_originals(context):
            text = "Back to Original Weights"
            draw_narrow(layout, result.BACK, text, "Restore", icon="LOOP_BACK")

    def _draw_targets(self, context, layout):
        try:
            targets = find_targets(context, posing=True)
        except Refused as reason:
            draw_wrapped(layout, context, str(reason), icon="INFO")
            return None
        row = layout.row(align=True)
        (armature, icon), (meshes, icon_of_meshes) = target_texts(targets)
        room = text_room(context) - 2 * unit(context)
        meshes = shortened(meshes, room / 2)
        armature = shortened(armature, room - text_width(meshes))
        row.label(text=armature, icon=icon, translate=False)
        row.label(text=meshes, icon=icon_of_meshes, translate=False)
        return targets

    def _draw_buttons(self, context, layout):
        """Draws the buttons. The large one starts the method that suits the current mode. During
        work, the progress replaces the buttons."""
        progress = progress_at_hand()
        if progress:
            row = layout.row()
            row.scale_y = 1.5
            row.progress(factor=progress.fraction, text=translated(progress.text))
            return
        first, second = (
            (IDNAME, "Auto-weight", "MOD_VERTEX_WEIGHT"),
            (REFINE, "Refine Live", "PLAY"),
        )
        if context.mode == "PAINT_WEIGHT":
            first, second = second, first
        row, _button = draw_large(layout, first[0], text=first[1], icon=first[2])
        row.operator(second[0], text="", icon=second[2])

    def _draw_presets(self, layout, settings):
        row = layout.row(align=True)  # not split, because preset names need the space
        row.label(text="For")
        now = presets.preset_in_use(settings)
        row.menu(presets.VIEW3D_MT_araplbs_presets.__name__, text=now)
        row.operator(presets.ADD, text="", icon="ADD")
        row.operator(presets.REMOVE, text="", icon="REMOVE")

    def _draw_touch_up(self, layout):
        column = layout.column()
        column.operator_context = "INVOKE_DEFAULT"
        grid = grid_of_two(column, *TOUCH_UP.values())
        for (idname, which), text in TOUCH_UP.items():
            button = grid.operator(idname, text=text)
            if which:
                button.which = which

    def _draw_choice(self, layout, settings, armature):
        text = "Only Selected Bones"
        if settings.only_selected_bones:
            deform = [bone.name for bone in armature.data.bones if bone.use_deform]
            free, every = free_bones(armature, deform)
            text = f"{translated(text)}: {free} / {every}"
        draw_checkbox(layout, settings, "only_selected_bones", text)


def target_texts(targets):
    """Returns [(text, icon)] for the objects that the buttons will work on. Names are not
    translated."""
    meshes = targets.meshes
    text = meshes[0].name if len(meshes) == 1 else translated(f"{len(meshes)} meshes")
    if targets.hidden:
        text += ", " + translated(f"{len(targets.hidden)} hidden")
    return [(targets.armature.name, "ARMATURE_DATA"), (text, "MESH_DATA")]


def _checks(layout, settings):
    """The layout for two check boxes, next to each other if they fit. The second name is the longer
    one."""
    name = translated(settings.bl_rna.properties["link_parts"].name)
    room = (1 - FIRST_CHECK) * panel_room(bpy.context) - AROUND_CHECK * unit(bpy.context)
    if text_width(name) > room:
        return layout.column(align=True)
    return layout.split(factor=FIRST_CHECK, align=True)
