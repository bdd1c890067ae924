"""Check Weights: finds and locates faults in the weights of a character. This module does not use
bpy, so any thread may run it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...base.progress import Listener, Progress
from ...character.problem import Problem
from ...model.options import Options
from ...model.sparse_weights import SparseWeights
from ...skeleton.poses import Poses
from .inspected import Inspected
from .kinds import KINDS

if TYPE_CHECKING:
    from .findings import Finding

LEAST = 0.05  # severity; lower values are not reported
PREPARED = 0.6  # share of the time before the first check
CHECK_POSES = 12  # random poses in which weights are checked
MOST_OF_A_KIND = 40  # findings, the worst first: nobody reads more


def check(
    problem: Problem,
    rows: SparseWeights,
    poses: Poses,
    options: Options,
    threads: int = 0,
    progress: Listener | None = None,
) -> list[Finding]:
    """Returns the Findings about the weights of a Problem, the worst first.

    rows: the SparseWeights in the file for all vertices of the Problem, with arbitrary sums. poses:
    the Poses in which they are judged. options: only max_influences and the symmetry of the problem
    matter. Raises araplbs.Cancelled when progress (a Listener) stops it.
    """
    return findings_of(Inspected(problem, rows, poses, options, threads), progress)


def findings_of(look: Inspected, progress: Listener | None = None) -> list[Finding]:
    """Applies check() to an Inspected."""
    progress = Progress.of(progress)
    found = []
    look.prepare(progress)
    checks = list(dict.fromkeys((kind.stage, kind.find) for kind in KINDS))
    for done, (stage, find) in enumerate(checks):
        progress.check(stage, PREPARED + (1 - PREPARED) * done / len(checks))
        some = [finding for finding in find(look) if finding.severity >= LEAST]
        some.sort(key=lambda finding: -finding.severity)
        found += some[:MOST_OF_A_KIND]
    return sorted(found, key=lambda finding: -finding.severity)
