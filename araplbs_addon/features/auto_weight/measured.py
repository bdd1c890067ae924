"""A weighting task that also measures and reports the gains over the earlier weights. Operators in
a window use this task, because it reads and measures more than a script needs."""

from araplbs.base.progress import Listener, Progress
from araplbs.character.pose_sets import measured_poses
from araplbs.features.check.before_after import gains
from araplbs.measures.deformation import measured_report
from araplbs.measures.new_twist_bones import twist_gain
from araplbs.measures.standing import has_weights

from ...blender.data.bones import upward
from ...blender.poses.own_actions import poses_of_actions
from ...task import MEASURING
from .heat import HEAT_SHARE, HeatWeighting

WEIGHTING_SHARE = 0.75  # share of the time for solving; the rest is for measuring
REPORT_SHARE = 0.3  # share of the time of measured_gains(); the rest is for finding problems


def measured_gains(problem, before, rows, options, threads, progress, actions=None):
    """The result of gains() for weights that no solver has measured."""
    poses, part = measured_poses(problem, options), progress.part(0, REPORT_SHARE)
    report = measured_report(problem, rows, poses, threads=threads, progress=part)
    part = progress.part(REPORT_SHARE, 1 - REPORT_SHARE)
    return gains(problem, before, rows, report, options, threads, part, actions)


class MeasuredWeighting(HeatWeighting):
    """facts, findings, judged_poses: see araplbs/features/check/before_after.py; facts are None
    before solve(). to_draw: the input of the images in reports/worst_poses.py. facts["heat"]: the
    stretch with Blender's automatic weights, if the meshes had no weights to compare with; None if
    the automatic weights leave vertices without weights. facts["heat_actions"]: the same stretch in
    the file's own actions. facts["twist_gain"]: see twist_gain()."""

    facts = findings = judged_poses = to_draw = None
    _actions = None  # Poses of the file's own actions
    _up = None  # (3,) in armature space

    def read_in_steps(self, targets, view_layer, with_entries=False):
        yield from super().read_in_steps(targets, view_layer, with_entries)
        self._up = upward(targets.armature)
        if has_weights(self.earlier) or self.compared_with_heat:
            skeleton = self.problem.skeleton
            self._actions = poses_of_actions(targets.armature, skeleton, view_layer)
            yield

    def solve(self, progress: Listener | None = None) -> None:
        progress = Progress.of(progress)
        before = self.earlier
        self.later = True
        super().solve(progress.part(0, WEIGHTING_SHARE, energies=True))
        deformation = self.solution.report["deformation"]
        own = HEAT_SHARE if self.compared_with_heat else 0.0
        self.facts, self.findings, self.judged_poses = gains(
            self.problem,
            before,
            self.solution.rows,
            deformation["after"],
            self.options,
            self.threads,
            progress.part(WEIGHTING_SHARE, 1 - WEIGHTING_SHARE - own, MEASURING),
            self._actions,
            self.painted,
        )
        skin = (self.problem.arguments[name] for name in ("vertices", "triangles"))
        rows, skeleton = self.solution.rows, self.problem.skeleton
        most = self.options.max_influences
        self.facts["twist_gain"] = twist_gain(*skin, rows, skeleton, self._up, most, self.threads)
        known = before if has_weights(before) else None
        self.to_draw = self.problem, known, self.solution.rows, self.judged_poses
        if self.compared_with_heat:
            last = progress.part(1 - own, own, MEASURING)
            heat = self.heat_report(last.part(0, 0.5))
            self.facts["heat"] = heat and heat["surface_strain"]
            if heat and "actions" in self.facts:
                self.facts["heat_actions"] = self.heat_in(self._actions, last.part(0.5, 0.5))
