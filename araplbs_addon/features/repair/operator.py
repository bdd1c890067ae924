"""The operator "Repair"."""

from dataclasses import replace
from functools import partial

from araplbs.base.refusal import Refused
from araplbs.cli.own_arguments import add_kinds, kinds_of
from araplbs.features.check.before_after import VISIBLE
from araplbs.features.check.findings import level
from araplbs.features.check.kinds import KINDS
from araplbs.features.repair.report import (
    EVERY_KIND,
    gone,
    outcomes_of,
    repair_lines,
    repair_notes,
    repair_summary,
)
from araplbs.model.options import Options
from bpy.props import EnumProperty
from bpy.types import Operator

from ...blender.read.targets import Targets, find_checked
from ...languages.translate import inform, warn
from ...operators.command import WHICH, Command
from ...operators.properties import WeightOptions
from ...operators.work import WorkOperator, poll_targets
from ...preferences import preferred_threads
from ..auto_weight.outcome import AFTER, outcome_at_hand
from ..auto_weight.show_worst import list_problems
from ..check.findings_list import found, marked
from .task import Judged, RepairTask

IDNAME = "object.araplbs_repair"


class OBJECT_OT_araplbs_repair(WorkOperator, WeightOptions, Operator):
    """Solve the weights of the findings again. All other weights stay unchanged. If the new \
weights are not better, the old ones are kept"""

    bl_idname = IDNAME
    bl_label = "Repair Weights"

    doing = "Repairing"
    first = ("which", "kinds")
    _outcome = None  # the one whose weights are repaired
    _shown = None  # the set of its weights that the meshes display
    own_options = ("start_from", "volume")  # it uses the surface and the surrounding weights

    which: EnumProperty(
        name="Findings",
        description="The findings that are repaired",
        items=(
            ("ALL", "All", "The findings of a new check of the selected meshes"),
            ("ACTIVE", "Chosen", "The finding chosen in the list"),
            ("MARKED", "Marked", "All marked findings in the list"),
            ("RESULT", "Of the Result", "The visible problems that remain after Auto-weight"),
        ),
    )
    kinds: EnumProperty(
        name="Kinds",
        description="The kinds of findings that are repaired",
        items=[kind[:3] for kind in KINDS if kind.id in EVERY_KIND],
        options={"ENUM_FLAG"},
        default=set(EVERY_KIND),
    )

    @classmethod
    def poll(cls, context):
        return poll_targets(context, lambda context: found.findings or find_checked(context))

    def start(self, context):
        outcome = outcome_at_hand(context)
        if self.which == "RESULT":
            if not outcome:
                raise Refused("Auto-weight first")
            outcome.show(AFTER)
            list_problems(outcome)
        targets, known, wanted = find_checked(context) if self.which == "ALL" else None, None, None
        if not targets:
            found.refuse_out_of_date()
            known = found.findings
            wanted = self._wanted(context)
            targets = Targets(found.armature.get(), [each.get() for each in found.objects])
        targets.painting = context.mode == "PAINT_WEIGHT"
        targets.only_bones = self.only_selected_bones
        self._outcome = outcome if outcome and _is_about(outcome, targets) else None
        judged = None
        if self._outcome:
            self._shown = outcome.shown()
            judged = Judged(outcome.options, outcome.bones, outcome.judged, outcome.measured)
        task = RepairTask(
            *(self.read_options(), preferred_threads(context)),
            *(frozenset(self.kinds), known, wanted, judged),
        )
        self.begin(context, task, targets)

    def _wanted(self, context):
        """Returns [bool]: whether to repair each finding of the list. Raises Refused if there is
        nothing to repair."""
        wanted = marked()
        if self.which == "RESULT":
            wanted = [level(each.severity) in VISIBLE for each in found.findings]
        elif self.which == "ACTIVE":
            active = context.window_manager.araplbs_check.active
            if not 0 <= active < len(wanted):
                raise Refused("Choose a finding in the list")
            wanted = [k == active for k in range(len(wanted))]
        if not any(wanted):
            raise Refused(
                "No problems remain" if self.which == "RESULT" else "No finding has a mark"
            )
        return wanted

    def tell(self, report, task):
        left, outcomes = task.repaired.findings, task.repaired.outcomes
        before = [each.finding for each in outcomes] if task.known is None else found.rows
        found.keep_of(left, task.checked, gone(left, before), outcomes_of(left, outcomes))
        if self._outcome and task.is_changed:
            outcome = self._outcome.renewed(self._shown, left, task.repaired.measures)
            if self._shown == AFTER:
                outcome.draw_again(task.checked.problem, task.rows)
        for line in task.warnings + repair_notes(report):
            warn(self, line)
        inform(self, repair_summary(report))
        return {"FINISHED"}


def _is_about(outcome, targets):
    """Whether an Outcome and Targets have the same meshes and armature."""
    uids = {ob.session_uid for ob in (targets.armature, *targets.meshes)}
    return uids == {outcome.armature.uid, *(each.uid for each in outcome.objects)}


def _choose_kinds(command, arguments):
    return replace(command, task=partial(RepairTask, kinds=kinds_of(arguments)))


CLASSES = (OBJECT_OT_araplbs_repair,)
COMMAND = Command(
    "repair",
    "repair problems with the weights of .blend files",
    "Solves the weights of every armature's meshes again where `check` finds a problem, and "
    f"nowhere else: {WHICH}",
    RepairTask,
    Options,
    repair_lines,
    own=add_kinds,
    choose=_choose_kinds,
)
