"""A repair that also measures the stretch with its weights. Operators in a window use this task."""

from araplbs.base.progress import Listener, Progress
from araplbs.character.pose_sets import measured_poses
from araplbs.measures.deformation import measure

from ...task import MEASURING
from ..auto_weight.measured import WEIGHTING_SHARE
from .task import RepairTask


class MeasuredRepair(RepairTask):
    """stretch: the stretch with the repaired weights, in the same poses as in MeasuredWeighting.
    rows: all weights after the repair."""

    stretch = rows = None

    def solve(self, progress: Listener | None = None) -> None:
        progress = Progress.of(progress)
        super().solve(progress.part(0, WEIGHTING_SHARE))
        problem = self.checked.problem
        self.rows = problem.join(self.repaired.weights)
        found = measure(
            problem,
            self.rows,
            measured_poses(problem, self.options),
            threads=self.threads,
            progress=progress.part(WEIGHTING_SHARE, 1 - WEIGHTING_SHARE, MEASURING),
        )
        area = float(found["area"])
        self.stretch = area if area == area else None
