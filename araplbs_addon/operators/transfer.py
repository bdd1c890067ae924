"""The operators "Transfer Weights (ARAP)" and "Show Matches"."""

from types import SimpleNamespace

import bpy
from bpy.types import Operator

from ..blender.references import Reference
from ..blender.transfer_targets import find_transfer_targets
from ..core.steps import finish
from ..core.transfer import TransferOptions, transfer_summary
from ..preferences import preferred_threads
from ..tasks.transfer import TransferTask
from .auto_weight import WorkOperator, poll_targets, refusals
from .properties import OptionProperties, option_names, option_properties, options_of

IDNAME = "object.araplbs_transfer_weights"
LABEL = "Transfer Weights (ARAP)"
SHOW = "object.araplbs_show_matches"

REFRESH = 0.1  # seconds after a change: a slider makes many

shown = []  # (Reference to an object, matched (n,)): what the overlay draws
_shown_task = None  # the TransferTask that it comes from


def transfer_options(context):
    """The TransferOptions that the panel shows."""
    settings = context.scene.araplbs
    own = settings.transfer
    values = {
        name: getattr(own if name in own.bl_rna.properties else settings, name)
        for name in option_names(TransferOptions)
    }
    return options_of(SimpleNamespace(**values), TransferOptions)


def _find(context):
    return find_transfer_targets(context, transfer_options(context).sources)


def _poll(cls, context):
    return poll_targets(cls, context, _find)


class OBJECT_OT_araplbs_transfer_weights(WorkOperator, OptionProperties, Operator):
    """Give the other selected meshes (clothes, hair, levels of detail) the weights of the active \
one where they lie close to it, and fill in and optimize the rest"""

    bl_idname = IDNAME
    bl_label = LABEL
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    __annotations__ = option_properties(TransferOptions)
    option_table = TransferOptions

    poll = classmethod(_poll)

    def draw(self, _context):
        self.layout.use_property_split = True
        self.layout.use_property_decorate = False
        draw_transfer_options(self.layout, self, self)

    def start(self, context):
        options = self.read_options()
        targets = find_transfer_targets(context, options.sources)
        self._task = TransferTask(options, preferred_threads(context))
        self._reading = self._task.read_in_steps(targets, context.view_layer)

    def tell(self, report, task):
        _hide()
        self.report({"INFO"}, transfer_summary(report))
        for line in task.warnings:
            self.report({"WARNING"}, line)
        return {"FINISHED"}


class OBJECT_OT_araplbs_show_matches(Operator):
    """Show which vertices of the other selected meshes match the active one: they take its \
weights, those that do not are filled in. Nothing is written; again: hide them"""

    bl_idname = SHOW
    bl_label = "Show Matches"
    bl_options = {"INTERNAL"}  # noqa: RUF012

    @classmethod
    def poll(cls, context):
        return bool(shown) or _poll(cls, context)

    def execute(self, context):
        was = [reference for reference, _ in shown]
        _hide()
        try:
            options = transfer_options(context)
            targets = find_transfer_targets(context, options.sources)
            if was == [Reference.to(ob) for ob in targets.meshes]:
                return {"FINISHED"}
            task = TransferTask(options, preferred_threads(context))
            finish(task.read_in_steps(targets, context.view_layer))
            _show(task)
        except (*refusals(), ValueError) as reason:
            if was:
                return {"FINISHED"}
            self.report({"ERROR"}, str(reason))
            return {"CANCELLED"}
        found = [matched for _reference, matched in shown]
        count, matched = sum(map(len, found)), sum(int(each.sum()) for each in found)
        self.report({"INFO"}, f"{matched:,} of {count:,} vertices match {task.source.label}")
        return {"FINISHED"}


def _show(task):
    global _shown_task
    found = [matched for matched, _distances, _angles in task.match()]
    shown[:] = zip(task.objects, found, strict=True)
    _shown_task = task


def _hide():
    global _shown_task
    shown.clear()
    _shown_task = None


def outdate_matches(_settings, _context):
    """What is shown shall go by the present options again, in a moment."""
    if shown and not bpy.app.timers.is_registered(refresh_matches):
        bpy.app.timers.register(refresh_matches, first_interval=REFRESH)


def refresh_matches():
    """Shows the matches of the present options; the meshes are those that were read."""
    if not shown:
        return
    try:
        _shown_task.options = transfer_options(bpy.context)
        _show(_shown_task)
    except (*refusals(), ValueError):
        _hide()
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()


def draw_transfer_options(layout, own, common):
    """own, common: what has the options of a transfer alone, and those of the weights too."""
    layout.prop(own, "sources")
    column = layout.column(align=True)
    column.prop(own, "distance")
    column.prop(own, "angle")
    layout.prop(own, "two_sided")
    layout.prop(own, "refine")
    layout.prop(own, "bones")
    layout.prop(own, "mix")
    layout.prop(common, "max_influences")
    if own == common:
        layout.prop(common, "iterations")


@bpy.app.handlers.persistent
def _forget(*_arguments):
    _hide()


def register():
    bpy.app.handlers.load_pre.append(_forget)


def unregister():
    bpy.app.handlers.load_pre.remove(_forget)
    _hide()
