"""The gain of a weighting over the earlier weights, in an artist's words: visible problems, and
stretch in poses. It does not use bpy, so any thread may run it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...base.progress import Listener, Progress
from ...character.pose_sets import checked_poses, measured_poses
from ...character.problem import Problem
from ...measures.deformation import as_report
from ...measures.standing import has_weights
from ...model.options import Options
from ...model.sparse_weights import SparseWeights
from ...skeleton.poses import Poses
from .check import findings_of
from .findings import health
from .inspected import Inspected
from .lost import lost_bones

if TYPE_CHECKING:
    from .findings import Finding

JUDGED_POSES = 12  # random ones in which problems are looked for, as many as Check Weights takes
VISIBLE = ("high", "medium")  # levels of findings that are seen


def visible(findings: Iterable[Finding]) -> int:
    """The number of visible findings."""
    counts = health(findings)
    return sum(counts[level] for level in VISIBLE)


def gains(
    problem: Problem,
    before: SparseWeights,
    after: SparseWeights,
    report: dict[str, Any],
    options: Options,
    threads: int = 0,
    progress: Listener | None = None,
) -> tuple[dict[str, Any], list[Finding], Poses]:
    """(facts, findings, poses): a summary of these SparseWeights `after`, and of those before.
    report: of the deformation of those after, as that of the solution has it.

    facts: {"problems": (before, after), "stretch": (before, after)}, None for what there is nothing
    to say of: before where fewer than half of the vertices had weights, stretch where there is no
    surface. If there was something before, also "drift": (before, after) of the limbs, "lost":
    [bone] that have lost their skin, and "deaf_before": [bone] that hardly moved the skin around
    them, as an eye in its socket. findings: faults of the new ones, found in these poses.
    """
    progress = Progress.of(progress)
    known = has_weights(before)
    sets = [before, after] if known else [after]
    poses, found, look = measured_poses(problem, options), [], None
    strains, drifts = [report["surface_strain"]], [report["limb_drift"]]
    judged = replace(options, pose_count=min(options.pose_count, JUDGED_POSES))
    few = poses[:JUDGED_POSES] if poses.whole else checked_poses(problem, judged)
    for at, rows in enumerate(sets):
        part = progress.part(at / len(sets), 1 / len(sets))
        look = Inspected(problem, rows, few, judged, threads, look)
        found.append(findings_of(look, part))
        if rows is before:
            measured = as_report(problem.skeleton, look.measured(poses))
            strains.insert(0, measured["surface_strain"])
            drifts.insert(0, measured["limb_drift"])
    nothing = [] if known else [None]
    facts: dict[str, Any] = {
        "problems": tuple(nothing + [visible(each) for each in found]),
        "stretch": tuple(nothing + strains),
    }
    if known:
        facts["drift"] = tuple(drifts)
        facts["lost"] = lost_bones(problem, before, after)
        facts["deaf_before"] = [each.bone for each in found[0] if each.kind == "DEAF_BONE"]
    return facts, found[-1], few
