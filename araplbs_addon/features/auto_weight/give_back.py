"""The operator "Give Back": restores the earlier weights of bones that have lost their skin. The
result is measured before it is written, so the numbers in the Result box stay correct."""

from typing import NamedTuple

import numpy as np
from araplbs.base.progress import Progress
from araplbs.base.refusal import Refused
from araplbs.features.check.lost import given_back
from araplbs.model.group_entries import bone_weights
from araplbs.reports.notes import GIVE_BACK
from bpy.types import Operator

from ...blender.data.views import redraw_views
from ...blender.poses.read_poses import poses_of_actions
from ...blender.read.read_mesh import named_entries
from ...blender.read.targets import Targets
from ...blender.write.all_or_nothing import all_or_nothing
from ...blender.write.weight_slots import WeightSlot
from ...blender.write.write_weights import write_weights
from ...languages.translate import inform
from ...operators.work import WorkOperator
from ...preferences import preferred_threads
from ...task import MEASURING
from ..check.task import CheckTask
from .outcome import AFTER, BEFORE, OfOutcome, outcome_at_hand
from .tasks import measured_gains

IDNAME = "object.araplbs_give_back"


class _Sets(NamedTuple):
    """The Before and After weights of one object, with all bones of the Outcome."""

    before: object  # SparseWeights
    after: object
    locked: np.ndarray  # (bones,)


class GiveBackTask(CheckTask):
    """A task that combines the After weights of an Outcome with the Before weights of certain
    bones, wherever these bones had skin. facts, findings, judged_poses: see MeasuredWeighting."""

    facts = None

    def __init__(self, outcome, lost, threads=0):
        super().__init__(outcome.options, threads)
        self._outcome, self._lost, self._measured = outcome, lost, outcome.options
        self._actions = None

    def read_in_steps(self, targets, view_layer):
        yield from super().read_in_steps(targets, view_layer)
        outcome, self._sets = self._outcome, []
        shows_after = outcome.shown() == AFTER
        slots = {
            set_name: {slot.object().session_uid: slot for slot in outcome.slots[set_name]}
            for set_name in (BEFORE, AFTER)
        }
        armature, skeleton = targets.armature, self.problem.skeleton
        self._actions = poses_of_actions(armature, skeleton, view_layer)
        yield
        bones = {name: i for i, name in enumerate(outcome.bones)}
        for ob in self.find_objects()[1]:
            before = slots[BEFORE][ob.session_uid].read()
            after = named_entries(ob) if shows_after else slots[AFTER][ob.session_uid].read()
            count = len(ob.data.vertices)
            locks = {group.name for group in ob.vertex_groups if group.lock_weight}
            self._sets.append(
                _Sets(
                    bone_weights(*before, bones, count),
                    bone_weights(*after, bones, count),
                    np.array([name in locks for name in outcome.bones]),
                )
            )
            yield

    def solve(self, progress=None):
        progress = Progress.of(progress).part(0, 1, MEASURING)
        problem, options = self.problem, self._measured
        wanted = np.array([name in self._lost for name in self._outcome.bones])
        self._given = [given_back(s.before, s.after, wanted, s.locked) for s in self._sets]
        before = self._present([sets.before for sets in self._sets])
        self.rows = self._present([rows for rows, _where in self._given])
        self.facts, self.findings, self.judged_poses = measured_gains(
            problem, before, self.rows, options, self.threads, progress, self._actions
        )

    def _present(self, weights):
        """Combines each mesh's SparseWeights of deform bones into the SparseWeights of the
        problem."""
        deform = self.problem.skeleton.deform
        return self.problem.join([each.of_bones(deform) for each in weights])

    def apply(self):
        """Writes the weights. Returns the number of vertices. There is no new report."""
        _armature, objects = self.find_objects()
        names, outcome = self._outcome.bones, self._outcome
        outcome.show(AFTER)
        with all_or_nothing(objects, made=None):
            for ob, (rows, where), sets in zip(objects, self._given, self._sets, strict=True):
                used = np.zeros(len(names), bool)
                used[rows.bones[where[rows.vertices]]] = True
                write_weights(ob, rows, names, used & ~sets.locked, ~sets.locked, where)
        self.count = sum(int(where.sum()) for _rows, where in self._given)
        slots = [WeightSlot(each.get()) for each in outcome.objects]
        outcome.rewritten(slots, self._lost, self.facts, self.findings, self.judged_poses)
        outcome.draw_again(self.problem, self.rows)


class OBJECT_OT_araplbs_give_back(OfOutcome, WorkOperator, Operator):
    """Restore the previous weights of bones that have lost their skin, and blend them into the \
new weights around them"""

    bl_idname = IDNAME
    bl_label = "Give Back"

    doing = "Measuring"

    def take_settings(self, _context):
        """Does nothing, because the operator has no settings."""

    def start(self, context):
        outcome = outcome_at_hand(context)
        lost = [bone for note in outcome.notes if note.remedy == GIVE_BACK for bone in note.bones]
        if not lost or not outcome.slots[BEFORE]:
            raise Refused("No bone has lost its skin")
        targets = Targets(outcome.armature.get(), [each.get() for each in outcome.objects])
        self.begin(context, GiveBackTask(outcome, lost, preferred_threads(context)), targets)

    def tell(self, _report, task):
        redraw_views()
        inform(self, f"Earlier weights restored on {task.count} vertices")
        return {"FINISHED"}


CLASSES = (OBJECT_OT_araplbs_give_back,)
