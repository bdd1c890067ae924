"""Work that reports its gains over the weights that were there before. It is for windows: it reads
and measures more than a script asks for."""

from araplbs.base.progress import Listener, Progress
from araplbs.features.check.before_after import gains
from araplbs.measures.standing import has_weights

from ...task import MEASURING
from ...weighting import WeightingTask

WEIGHTING_SHARE = 0.75  # of the time: the rest is measuring


class MeasuredWeighting(WeightingTask):
    """facts, findings, judged_poses: see araplbs/features/check/before_after.py; facts are None
    before solve(). to_draw: what reports/worst_poses.py makes pictures of.
    facts["heat"]: stretch with the weights of bone heat, if the meshes had none to compare with."""

    reads_weights = True
    facts = findings = judged_poses = to_draw = None

    def solve(self, progress: Listener | None = None) -> None:
        progress = Progress.of(progress)
        before = self.problem.present(self.reading.meshes)
        from_heat = self.options.initial == "HEAT" and self.options.start_from == "FRESH"
        names_heat = from_heat and not has_weights(before)
        self.later = not names_heat
        super().solve(progress.part(0, WEIGHTING_SHARE, energies=True))
        deformation = self.solution.report["deformation"]
        self.facts, self.findings, self.judged_poses = gains(
            self.problem,
            before,
            self.solution.rows,
            deformation["after"]["surface_strain"],
            self.options,
            self.threads,
            progress.part(WEIGHTING_SHARE, 1 - WEIGHTING_SHARE, MEASURING),
        )
        known = before if has_weights(before) else None
        self.to_draw = self.problem, known, self.solution.rows, self.judged_poses
        if names_heat:
            self.facts["heat"] = deformation["before"]["surface_strain"]
