"""Work that reports its gains over the earlier weights. It is used in windows, because it reads
and measures more than a script needs."""

from dataclasses import replace

from araplbs.base.progress import Listener, Progress
from araplbs.base.refusal import Refused
from araplbs.character.pose_sets import measured_poses
from araplbs.features.check.before_after import gains
from araplbs.measures.deformation import measured_report
from araplbs.measures.standing import has_weights

from ...blender.read.blender_weights import blender_weights
from ...task import MEASURING
from ...weighting import WeightingTask

WEIGHTING_SHARE = 0.75  # of the time: the rest is measuring
MOST_HEAT = 40_000  # vertices: the window waits for Blender's heat, and for more it would be seen


class MeasuredWeighting(WeightingTask):
    """facts, findings, judged_poses: see araplbs/features/check/before_after.py; facts are None
    before solve(). to_draw: what reports/worst_poses.py makes pictures of.
    facts["heat"]: stretch with Blender's automatic weights, if the meshes had no weights to compare
    with; None if those leave vertices without weights."""

    reads_weights = True
    facts = findings = judged_poses = to_draw = None
    _drawn_deform = None  # which bones deform, control bones included: heat leaves none out
    _heat = None  # (SparseWeights of Blender's heat or None, if it failed,)

    def _take(self, objects, meshes, skeleton):
        self._drawn_deform = skeleton.deform
        return super()._take(objects, meshes, skeleton)

    def read_in_steps(self, targets, view_layer, with_entries=False):
        """See WeightingTask."""
        yield from super().read_in_steps(targets, view_layer, with_entries)
        meshes = self.reading.meshes
        few = sum(len(mesh.vertices) for mesh in meshes) <= MOST_HEAT
        rig = targets.armature
        linked = rig.library or rig.override_library or rig.data.library  # a copy leaves traces
        if few and not linked and not has_weights(self.problem.present(meshes)):
            self._heat = (self._blender_heat(rig, meshes),)
            yield

    def _blender_heat(self, armature, meshes):
        skeleton = replace(self.problem.skeleton, deform=self._drawn_deform)
        try:
            parts, _seconds = blender_weights(armature, meshes, skeleton, "BLENDER_HEAT")
        except Refused:
            return None
        weighted = [replace(m, weights=w) for m, w in zip(meshes, parts, strict=True)]
        rows = self.problem.present(weighted)
        return rows if (rows.sums() > 0).all() else None

    def solve(self, progress: Listener | None = None) -> None:
        progress = Progress.of(progress)
        before = self.problem.present(self.reading.meshes)
        self.later = True
        super().solve(progress.part(0, WEIGHTING_SHARE, energies=True))
        deformation = self.solution.report["deformation"]
        self.facts, self.findings, self.judged_poses = gains(
            self.problem,
            before,
            self.solution.rows,
            deformation["after"],
            self.options,
            self.threads,
            progress.part(WEIGHTING_SHARE, 1 - WEIGHTING_SHARE, MEASURING),
        )
        known = before if has_weights(before) else None
        self.to_draw = self.problem, known, self.solution.rows, self.judged_poses
        if self._heat:
            self.facts["heat"] = self._stretch(self._heat[0])

    def _stretch(self, rows):
        """The stretch of the surface with these SparseWeights."""
        if rows is None:
            return None
        poses = measured_poses(self.problem, self.options)
        report = measured_report(self.problem, rows, poses, threads=self.threads)
        return report["surface_strain"]
