"""A task that compares new weights with the earlier ones, or with Blender's heat weights if there
were no earlier ones. Scripts and the command line use this task. Operators in a window use
measured.py, which measures more."""

from araplbs.base.progress import Listener, Progress
from araplbs.features.check.lost import with_lost
from araplbs.measures.standing import standing
from araplbs.reports.report import make_report

from ...task import MEASURING
from .heat import HEAT_SHARE, HeatWeighting

WEIGHTING_SHARE = 0.9  # share of the time for solving; the rest is for measuring


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
        super().solve(progress.part(0, WEIGHTING_SHARE, energies=True))
        present = self.earlier
        own = HEAT_SHARE if self.compared_with_heat else 0.0
        compared = standing(
            self.problem,
            present,
            self.solution.report["deformation"],
            self.options,
            self.threads,
            progress.part(WEIGHTING_SHARE, 1 - WEIGHTING_SHARE - own, MEASURING),
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
