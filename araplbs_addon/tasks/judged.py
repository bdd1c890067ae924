"""A weighting that reports its gains over the weights that were there before. It is for windows: it
reads and measures more than a script asks for."""

from ..core.base.progress import Listener, Progress
from ..core.checks.gains import gains
from .weighting import WeightingTask

WEIGHTING_SHARE = 0.75  # of the time: the rest is measuring
MEASURING = "measuring"  # the stage


class JudgedWeighting(WeightingTask):
    """facts, findings, judged_poses: see core/checks/gains.py; facts are None before solve()."""

    reads_weights = True
    facts = findings = judged_poses = None

    def solve(self, progress: Listener | None = None) -> None:
        progress = Progress.of(progress)
        super().solve(progress.part(0, WEIGHTING_SHARE, energies=True))
        self.facts, self.findings, self.judged_poses = gains(
            self.problem,
            self.problem.present(self.reading.meshes),
            self.solution.rows,
            self.solution.report["deformation"]["after"]["surface_strain"],
            self.options,
            self.threads,
            progress.part(WEIGHTING_SHARE, 1 - WEIGHTING_SHARE, MEASURING),
        )
