"""The gain of a weighting over the weights that were there before, as an artist would say it:
visible problems, and stretch in poses. No bpy: any thread may compute it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...base.progress import Listener, Progress
from ...character.pose_sets import checked_poses, measured_poses
from ...character.problem import Problem
from ...measures.standing import has_weights
from ...model.options import Options
from ...model.sparse_weights import SparseWeights
from ...skeleton.poses import Poses
from .check import findings_of
from .findings import health
from .inspected import Inspected

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
    stretch: float | None,
    options: Options,
    threads: int = 0,
    progress: Listener | None = None,
) -> tuple[dict[str, Any], list[Finding], Poses]:
    """(facts, findings, poses): a summary of these SparseWeights `after`, and of those before.
    stretch: of those after, as the report of the solution has it, None for no surface.

    facts: {"problems": (before, after), "stretch": (before, after)}, None for what there is nothing
    to say of: before where fewer than half of the vertices had weights, stretch where there is no
    surface. findings: faults of the new ones, found in these poses.
    """
    progress = Progress.of(progress)
    known = has_weights(before)
    sets = [before, after] if known else [after]
    poses, found, strains, look = measured_poses(problem, options), [], [stretch], None
    judged = replace(options, pose_count=min(options.pose_count, JUDGED_POSES))
    few = poses[:JUDGED_POSES] if poses.whole else checked_poses(problem, judged)
    for at, rows in enumerate(sets):
        part = progress.part(at / len(sets), 1 / len(sets))
        look = Inspected(problem, rows, few, judged, threads, look)
        found.append(findings_of(look, part))
        if rows is before:
            area = look.measured(poses)["area"]
            strains.insert(0, float(area) if area == area else None)
    nothing = [] if known else [None]
    facts = {
        "problems": tuple(nothing + [visible(each) for each in found]),
        "stretch": tuple(nothing + strains),
    }
    return facts, found[-1], few
