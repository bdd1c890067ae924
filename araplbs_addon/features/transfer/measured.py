"""A transfer that also measures the weights of its targets for the Result box. Operators in a
window use this task."""

from types import SimpleNamespace

from araplbs.base.progress import Progress
from araplbs.character.problem import Problem
from araplbs.measures.standing import has_weights
from araplbs.model.options import Options

from ...blender.data.ours import is_ours
from ...blender.poses.flexible_bones import curved_parameters_in_steps
from ...blender.poses.own_actions import poses_of_actions
from ...task import MEASURING
from ..auto_weight.measured import WEIGHTING_SHARE, measured_gains
from .task import TransferTask


class MeasuredTransfer(TransferTask):
    """facts, findings, judged_poses, to_draw, solution, replaces_ours: as in MeasuredWeighting.
    measured_options: the Options that define the poses."""

    keeps = False  # the Result keeps the earlier weights
    facts = findings = judged_poses = to_draw = problem = solution = _actions = None
    replaces_ours = ()

    def read_in_steps(self, targets, view_layer):
        """See TransferTask."""
        yield from super().read_in_steps(targets, view_layer)
        armature, skeleton = targets.armature, self.reading.skeleton
        self.problem = Problem(self.reading.meshes, skeleton)
        yield
        self.problem.parameters = yield from curved_parameters_in_steps(
            armature, skeleton, self.problem.arguments["vertices"]
        )
        self._actions = poses_of_actions(armature, skeleton, view_layer)

    def solve(self, progress=None):
        """See TransferTask."""
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
        """See TransferTask."""
        self.replaces_ours = [is_ours(ob) for ob in self.find_objects()[1]]
        return super().apply()
