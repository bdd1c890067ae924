"""Measures how much better the new weights are than the earlier ones, in terms that artists use:
visible problems, and stretch in poses. This module does not use bpy, so any thread may run it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.extent import triangle_areas
from ...base.progress import Listener, Progress
from ...character.pose_sets import checked_poses, measured_poses
from ...character.problem import Problem
from ...measures.deformation import measure, measured_report
from ...measures.standing import has_weights, much_more
from ...model.options import Options
from ...model.sparse_weights import SparseWeights
from ...skeleton.poses import Poses
from .check import findings_of
from .findings import health, level
from .inspected import Inspected
from .lost import OWN, reaching_bones, responses

if TYPE_CHECKING:
    from .findings import Finding

JUDGED_POSES = 12  # random poses in which problems are sought, as many as in Check Weights
BEFORE_SHARE = 0.2  # share of the time for measuring the earlier weights
ACTIONS_SHARE = 0.2  # share of the time for measuring the file's actions, if there are any
CLEARLY = 1.25  # times as much stretch: above this ratio, fewer problems are not a gain
STILL = 0.02  # stretch in actions: below this, there is hardly any motion to compare
VISIBLE = ("high", "medium")  # visible levels of findings


def visible(findings: Iterable[Finding]) -> int:
    """The number of findings that are visible."""
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
    actions: Poses | None = None,
    painted: SparseWeights | None = None,
) -> tuple[dict[str, Any], list[Finding], Poses]:
    """Returns (facts, findings, poses), which compare the SparseWeights `after` with the earlier
    ones. report: the deformation report of the new weights, as in the report of the solution.
    actions: poses from the file's own actions. painted: the earlier weights, including the weights
    of excluded bones.

    facts: {"problems": (before, after), "stretch": (before, after)}, with None for values that are
    not available. Both "before" values are None if fewer than half of the vertices had weights. The
    number of problems before is None if the stretch contradicts it (see _contradict()), and
    "stretch" is None if there is no surface. If actions move the character, "actions" is the
    stretch in these actions. If earlier weights exist, there are six further facts: "drift":
    (before, after) of the limbs; "lost": the bones that have lost their skin; "fit_better": those
    of them whose former skin now stretches less; "had_skin": excluded
    bones that had skin; "as_before": bones whose effect on the skin around them is unchanged,
    such as an eye in its socket; and "reaching": the Reach of bones that move skin of another limb,
    except skin of bones among "lost" or "had_skin". findings: the faults of the new weights, found
    in these poses.
    """
    progress = Progress.of(progress)
    known = has_weights(before)
    sets = [before, after] if known else [after]
    nothing: list[None] = [] if known else [None]
    poses, findings, look = measured_poses(problem, options), [], None
    strains, drifts = [report["surface_strain"]], [report["limb_drift"]]
    if known:
        part = progress.part(0, BEFORE_SHARE)
        measured = measured_report(problem, before, poses, threads=threads, progress=part)
        strains.insert(0, measured["surface_strain"])
        drifts.insert(0, measured["limb_drift"])
    few = _judged_poses(problem, options, poses, strains)
    judged = replace(options, pose_count=min(options.pose_count, JUDGED_POSES))
    own = ACTIONS_SHARE if actions is not None and len(actions) else 0.0
    rest = progress.part(BEFORE_SHARE, 1 - BEFORE_SHARE - own)
    last = progress.part(1 - own, own)
    for k, rows in enumerate(sets):
        look = Inspected(problem, rows, few, judged, threads, look)
        findings.append(findings_of(look, rest.part(k / len(sets), 1 / len(sets))))
    counts: list[int | None] = list(map(visible, findings))
    if known and _contradict(counts, strains):
        counts[0] = None
    facts: dict[str, Any] = {"problems": (*nothing, *counts), "stretch": (*nothing, *strains)}
    strains = [
        stretch_in(problem, rows, actions, threads, last.part(k / len(sets), 1 / len(sets)))
        for k, rows in enumerate(sets)
    ]
    if strains[0] and strains[0] > STILL:
        facts["actions"] = (*nothing, *strains)
    if known:
        earlier = before if painted is None else painted
        unresponsive = {finding.bone for finding in findings[0] if finding.kind == "DEAF_BONE"}
        facts |= {"drift": tuple(drifts), **_of_bones(problem, earlier, after, unresponsive)}
        facts["fit_better"] = _fit_better(problem, before, after, facts["lost"], few, threads)
    return facts, findings[-1], few


def _of_bones(
    problem: Problem, earlier: SparseWeights, after: SparseWeights, unresponsive: set[int]
) -> dict[str, Any]:
    """The facts about bones compared with earlier weights. unresponsive: those that hardly moved
    the skin around them."""
    skin, left_out = responses(problem, earlier, after), problem.skeleton.left_out
    had_skin = [b for b in skin.owners if left_out[b] and b not in skin.lost]
    told = {*skin.lost, *had_skin}
    reaches = reaching_bones(problem, earlier, after)
    return {
        "lost": skin.lost,
        "had_skin": had_skin,
        "as_before": sorted(unresponsive | set(skin.responsive)),
        "reaching": [reach for reach in reaches if reach.owner not in told],
    }


def _fit_better(
    problem: Problem,
    before: SparseWeights,
    after: SparseWeights,
    lost: list[int],
    poses: Poses,
    threads: int,
) -> list[int]:
    """The lost bones whose former skin stretches less with the new weights."""
    if not lost:
        return []
    strains = [
        measure(problem, rows, poses, threads=threads, per_triangle=True)["triangle_strain"]
        for rows in (before, after)
    ]
    corners, found = problem.arguments["triangles"], []
    areas = triangle_areas(problem.arguments["vertices"], corners)
    for bone in lost:
        of_bone = before.vertices[(before.bones == bone) & (before.weights > OWN)]
        skin = np.isin(corners, of_bone).any(axis=1)
        was, now = (float((areas * strain**2)[skin].sum()) for strain in strains)
        if now < was:
            found.append(bone)
    return found


def seen_in(facts: dict[str, Any], findings: Iterable[Finding], problem: Problem) -> dict[str, Any]:
    """The arguments of result_notes() in reports/notes.py that the facts and findings of gains()
    provide. Bones that are lost or that move their skin as before are not unresponsive. Bones that
    are said to reach too far with the earlier weights in mind are not said to do so twice."""
    names, found = problem.skeleton.names, list(findings)
    known = {*facts.get("lost", ()), *facts.get("as_before", ())}
    reaching = facts.get("reaching", ())
    told = {bone for bone, _owner in reaching}
    return {
        "unresponsive": [
            names[finding.bone]
            for finding in found
            if finding.kind == "DEAF_BONE" and finding.bone not in known
        ],
        "leaving": [
            (problem.names[finding.mesh], int(finding.vertices[0]))
            for finding in found
            if finding.kind == "LOOSE_PART" and level(finding.severity) in VISIBLE
        ],
        "twist_gain": facts.get("twist_gain"),
        **{
            key: [names[bone] for bone in facts.get(key, ())]
            for key in ("lost", "fit_better", "had_skin")
        },
        "reaching": [(names[bone], names[owner]) for bone, owner in reaching],
        "over": [
            (names[finding.bone], names[finding.others[0]])
            for finding in found
            if finding.kind == "OVERREACH" and finding.bone not in told
        ],
    }


def _contradict(counts: list[int | None], strains: list[float | None]) -> bool:
    """Whether there are fewer visible problems and clearly more stretch, or more problems and
    clearly less stretch. In both cases, the number of problems does not show which weights are
    better."""
    before, after = counts
    if before is None or after is None or before == after:
        return False
    less, more = strains if after < before else reversed(strains)
    return less is not None and more is not None and more > CLEARLY * less


def _judged_poses(
    problem: Problem, options: Options, poses: Poses, strains: list[float | None]
) -> Poses:
    """The poses in which problems are sought. Tears in random poses count only if the earlier
    weights hold the surface together better than the new ones do."""
    if poses.whole or (len(strains) > 1 and much_more(*strains)):
        return poses[:JUDGED_POSES]
    count = min(options.pose_count, JUDGED_POSES)
    return checked_poses(problem, replace(options, pose_count=count))


def stretch_in(
    problem: Problem,
    rows: SparseWeights,
    poses: Poses | None,
    threads: int = 0,
    progress: Listener | None = None,
) -> float | None:
    """The stretch of the surface with these weights; None without poses or a surface."""
    if poses is None or not len(poses):
        return None
    strain = measured_report(problem, rows, poses, threads=threads, progress=progress)[
        "surface_strain"
    ]
    return None if strain is None else float(strain)
