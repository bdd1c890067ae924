"""The operators "Transfer Weights (ARAP)" and "Show Matches", and the settings of the tab."""

from types import SimpleNamespace

import bpy
from araplbs.base.faults import refusals
from araplbs.base.progress import Progress
from araplbs.base.steps import finish
from araplbs.character.problem import Problem
from araplbs.cli.own_arguments import add_sources_and_targets
from araplbs.features.transfer.options import TransferOptions
from araplbs.features.transfer.transfer import FewMatch, transfer_summary
from araplbs.measures.standing import has_weights
from araplbs.model.options import Options
from araplbs.reports.last_lines import transfer_line
from araplbs.reports.notes import transfer_notes
from bpy.props import PointerProperty, StringProperty
from bpy.types import Operator

from ...blender.data.ours import is_ours
from ...blender.data.references import Reference
from ...blender.data.views import redraw_views
from ...blender.poses.flexible_bones import curved_parameters_in_steps
from ...blender.poses.read_poses import poses_of_actions
from ...blender.read.transfer_targets import find_transfer_in_file, find_transfer_targets
from ...languages.translate import inform
from ...operators.command import Command
from ...operators.guard import handing_over
from ...operators.properties import OptionProperties, option_names, split
from ...operators.settings import ARAPLBS_settings, own_properties
from ...operators.sidebar import draw_wrapped
from ...operators.work import WorkOperator, poll_targets, tell
from ...preferences import preferred_threads
from ...task import MEASURING
from ..auto_weight.originals import is_seen
from ..auto_weight.outcome import keep_outcome
from ..auto_weight.tasks import WEIGHTING_SHARE, measured_gains
from .shown_matches import hide, outdate_matches, show, shown, transfer_options
from .task import TransferTask


class MeasuredTransfer(TransferTask):
    """facts, findings, judged_poses, to_draw, solution, replaces_ours: as in MeasuredWeighting.
    measured_options: the Options that define the poses."""

    keeps = False  # the Result keeps the earlier weights
    facts = findings = judged_poses = to_draw = problem = solution = _actions = None
    replaces_ours = ()

    def read_in_steps(self, targets, view_layer):
        yield from super().read_in_steps(targets, view_layer)
        armature, skeleton = targets.armature, self.reading.skeleton
        self.problem = Problem(self.reading.meshes, skeleton)
        yield
        self.problem.parameters = yield from curved_parameters_in_steps(
            armature, skeleton, self.problem.arguments["vertices"]
        )
        self._actions = poses_of_actions(armature, skeleton, view_layer)

    def solve(self, progress=None):
        progress, problem = Progress.of(progress), self.problem
        super().solve(progress.part(0, WEIGHTING_SHARE))
        part = progress.part(WEIGHTING_SHARE, 1 - WEIGHTING_SHARE, MEASURING)
        options = self.measured_options = Options(max_influences=self.options.max_influences)
        before = problem.present(self.reading.meshes)
        rows = problem.join([each.rows for each in self.done])
        self.facts, self.findings, self.judged_poses = measured_gains(
            problem, before, rows, options, self.threads, part, self._actions
        )
        self.solution = SimpleNamespace(rows=rows)
        self.to_draw = problem, before if has_weights(before) else None, rows, self.judged_poses

    def apply(self):
        self.replaces_ours = [is_ours(ob) for ob in self.find_objects()[1]]
        return super().apply()


IDNAME = "object.araplbs_transfer"
SHOW = "object.araplbs_show_matches"
WIDTH = 300  # of the question


class ARAPLBS_transfer_settings(bpy.types.PropertyGroup):
    __annotations__ = own_properties(TransferOptions, outdate_matches)


def _find(context):
    return find_transfer_targets(context, transfer_options(context).sources)


class OBJECT_OT_araplbs_transfer(WorkOperator, OptionProperties, Operator):
    """Transfer the weights of a mesh to the other selected meshes (clothes, hair, levels of \
detail) where they lie close to it, and fill in and optimize the rest. The panel shows the \
direction"""

    bl_idname = IDNAME
    bl_label = "Transfer Weights (ARAP)"
    places = (("VIEW3D_MT_make_links", 10),)
    icon = "MOD_DATA_TRANSFER"

    option_table = TransferOptions
    task_kind = TransferTask
    doing = "Transferring"
    find = staticmethod(_find)

    def draw(self, _context):
        layout = split(self.layout)
        layout.prop(self, "sources")
        column = layout.column(align=True)
        column.prop(self, "distance")
        column.prop(self, "angle")
        others = ("two_sided", "refine", "bones", "mix", "max_influences", "iterations", "force")
        for name in others:
            layout.prop(self, name)

    def targets(self, context):
        return find_transfer_targets(context, self.sources)

    def turn(self, context):
        try:
            return super().turn(context)
        except FewMatch as doubt:
            chosen = {name: getattr(self, name) for name in option_names(TransferOptions)}
            with handing_over():
                bpy.ops.object.araplbs_transfer_ask(
                    "INVOKE_DEFAULT", question=str(doubt.doubt), **chosen | {"force": True}
                )
            return {"CANCELLED"}

    def start(self, context):
        self.task_kind = MeasuredTransfer if is_seen() else TransferTask
        super().start(context)

    def tell(self, report, task):
        hide()
        if isinstance(task, MeasuredTransfer):
            outcome = keep_outcome(report, task, transfer_notes)
            outcome.sources = task.reading.sources
        inform(self, transfer_summary(report))
        return tell(self, None, task, transfer_line(report))


class OBJECT_OT_araplbs_transfer_ask(OptionProperties, Operator):
    """Transfer although most vertices match nothing"""

    bl_idname = "object.araplbs_transfer_ask"
    bl_label = "Transfer Anyway"
    bl_options = {"INTERNAL"}

    __annotations__ = {"question": StringProperty()}
    option_table = TransferOptions

    def invoke(self, context, _event):
        return context.window_manager.invoke_props_dialog(
            self, width=WIDTH, title="Transfer Weights (ARAP)", confirm_text=self.bl_label,
            cancel_default=True,
        )  # fmt: skip

    def draw(self, context):
        draw_wrapped(self.layout, context, self.question, icon="QUESTION")

    def execute(self, _context):
        chosen = {name: getattr(self, name) for name in option_names(TransferOptions)}
        with handing_over():
            bpy.ops.object.araplbs_transfer("INVOKE_DEFAULT", **chosen)
        return {"FINISHED"}


class OBJECT_OT_araplbs_show_matches(Operator):
    """Show which vertices of the other selected meshes match the active mesh and take its \
weights. The weights of all others are filled in. Nothing is written. Press again to hide \
them"""

    bl_idname = SHOW
    bl_label = "Show Matches"
    bl_options = {"INTERNAL"}

    @classmethod
    def poll(cls, context):
        return bool(shown) or poll_targets(context, _find)

    def execute(self, context):
        was = [reference for reference, _ in shown]
        hide()
        redraw_views()
        try:
            options = transfer_options(context)
            targets = find_transfer_targets(context, options.sources)
            if was == [Reference.to(ob) for ob in targets.meshes]:
                return {"FINISHED"}
            task = TransferTask(options, preferred_threads(context))
            finish(task.read_in_steps(targets, context.view_layer))
            show(task)
        except refusals():
            if was:
                return {"FINISHED"}
            raise
        found = [matched for _reference, matched in shown]
        count, matched = sum(map(len, found)), sum(int(each.sum()) for each in found)
        inform(self, f"{matched:,} of {count:,} vertices match {task.reading.source.label}")
        return {"FINISHED"}


CLASSES = (
    ARAPLBS_transfer_settings,
    OBJECT_OT_araplbs_transfer,
    OBJECT_OT_araplbs_transfer_ask,
    OBJECT_OT_araplbs_show_matches,
)
PROPERTIES = ((ARAPLBS_settings, "transfer", PointerProperty(type=ARAPLBS_transfer_settings)),)
COMMAND = Command(
    "transfer",
    "transfer weights between meshes of .blend files",
    "Gives meshes the weights of other meshes on the same armature that lie close to them, and "
    "fills in and optimizes the rest. The input stays unchanged unless --in-place is given.",
    TransferTask,
    TransferOptions,
    transfer_summary,
    find=find_transfer_in_file,
    own=add_sources_and_targets,
    without=("sources",),
)
