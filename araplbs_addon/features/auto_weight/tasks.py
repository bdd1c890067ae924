"""The tasks of Auto-weight that compare the new weights with the earlier ones, or with Blender's
heat weights if there were no earlier ones. Without this comparison, the numbers would not show
whether the result is good. Scripts and the command line use ComparedWeighting. Operators in a
window use MeasuredWeighting, which reads and measures more than a script needs."""

from dataclasses import replace

import numpy as np
from araplbs.base.progress import Listener, Progress
from araplbs.base.refusal import Refused
from araplbs.character.pose_sets import measured_poses
from araplbs.features.check.before_after import gains, stretch_in
from araplbs.features.check.lost import with_lost
from araplbs.measures.deformation import measured_report
from araplbs.measures.new_twist_bones import twist_gain
from araplbs.measures.standing import has_weights, standing
from araplbs.reports.report import make_report

from ...blender.data.bones import upward
from ...blender.poses.read_poses import poses_of_actions
from ...blender.read.blender_weights import blender_weights_in_steps
from ...task import MEASURING
from ...weighting import WeightingTask

# Vertices x deform bones of one mesh for which Blender's operator takes a second and a half. The
# operator shows no progress and cannot be stopped.
MOST_HEAT = 2_500_000
HEAT_SHARE = 0.05  # share of the time for measuring the heat weights
# Shares of the time for solving; the rest is for measuring.
COMPARED_SHARE = 0.9  # in ComparedWeighting
WEIGHTING_SHARE = 0.75  # in MeasuredWeighting
REPORT_SHARE = 0.3  # share of the time of measured_gains(); the rest is for finding problems


class HeatWeighting(WeightingTask):
    """earlier: the earlier SparseWeights of the meshes, combined for the problem, without excluded
    bones. painted: the same with the excluded bones. compared_with_heat: whether a comparison with
    Blender's heat weights is available."""

    reads_weights = True
    earlier = painted = None
    _read = ()  # the weights that were read from the meshes
    _drawn_deform = None  # deform bones, including control bones, which heat does not leave out
    _heat = None  # (SparseWeights of Blender's heat, or None if it failed,)

    def _take(self, objects, meshes, skeleton):
        self._drawn_deform = skeleton.deform
        self._read = [mesh.weights for mesh in meshes]
        return super()._take(objects, meshes, skeleton)

    def read_in_steps(self, targets, view_layer):
        yield from super().read_in_steps(targets, view_layer)
        meshes = self.reading.meshes
        bones = np.count_nonzero(self._drawn_deform)
        few = max(len(mesh.vertices) for mesh in meshes) * bones <= MOST_HEAT
        rig = targets.armature
        linked = rig.library or rig.override_library or rig.data.library  # a copy leaves traces
        self.earlier, self.painted = self.problem.present(meshes), self.problem.join(self._read)
        if few and not linked and not has_weights(self.earlier):
            self._heat = ((yield from self._blender_heat_in_steps(rig, meshes)),)

    def _blender_heat_in_steps(self, armature, meshes):
        skeleton = replace(self.problem.skeleton, deform=self._drawn_deform)
        try:
            parts, _seconds = yield from blender_weights_in_steps(
                armature, meshes, skeleton, "BLENDER_HEAT"
            )
        except Refused:
            return None
        rows = self.problem.join(parts)
        return rows if (rows.sums() > 0).all() else None

    @property
    def compared_with_heat(self):
        return self._heat is not None

    def heat_report(self, progress: Listener | None = None):
        """The deformation report with Blender's heat weights, None if they fail."""
        (rows,) = self._heat
        if rows is None:
            return None
        poses = measured_poses(self.problem, self.options)
        return measured_report(self.problem, rows, poses, threads=self.threads, progress=progress)

    def heat_in(self, poses, progress: Listener | None = None):
        """The stretch with Blender's heat weights in these Poses."""
        (rows,) = self._heat
        return stretch_in(self.problem, rows, poses, self.threads, progress)


class ComparedWeighting(HeatWeighting):
    """The report contains "compared", the result of standing(). If there were no weights to compare
    with, it contains "heat" instead: the deformation report with Blender's heat weights, None if
    the heat weights fail. keep: if the new weights are worse than the earlier ones, they are not
    written, and the report contains "kept": True."""

    compared = None

    def __init__(self, options, threads=0, keep=False):
        super().__init__(options, threads)
        self.keep = keep

    def solve(self, progress: Listener | None = None) -> None:
        progress = Progress.of(progress)
        super().solve(progress.part(0, COMPARED_SHARE, energies=True))
        present = self.earlier
        own = HEAT_SHARE if self.compared_with_heat else 0.0
        compared = standing(
            self.problem,
            present,
            self.solution.report["deformation"],
            self.options,
            self.threads,
            progress.part(COMPARED_SHARE, 1 - COMPARED_SHARE - own, MEASURING),
        )
        self.compared = with_lost(compared, self.problem, self.painted, self.solution.rows)
        if self.compared_with_heat:
            self.compared["heat"] = self.heat_report(progress.part(1 - own, own, MEASURING))

    @property
    def keeps(self):
        """Whether the earlier weights are kept."""
        return bool(self.keep and self.compared["worse"])

    def apply(self):
        if self.keeps:
            armature, _objects = self.find_objects()
            report = make_report(self.problem, self.solution, self.options, armature.name)
            report["kept"] = True
        else:
            report = super().apply()
        report["compared"] = self.compared
        return report


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

    def read_in_steps(self, targets, view_layer):
        yield from super().read_in_steps(targets, view_layer)
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
