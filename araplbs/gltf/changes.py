"""Changes the weights in a file by repair, transfer between meshes, quantization or bone reduction,
and compares the weights of several methods."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..base.progress import Listener
from ..base.refusal import Refused
from ..base.steps import finish
from ..character.control_bones import leave_out_in_steps
from ..character.pose_sets import checked_poses, pose_set
from ..features.check.findings import Finding, as_json
from ..features.compare.compare import Comparison, compare
from ..features.compare.judge import ANIMATION, RANDOM, Case, judged_poses
from ..features.compare.options import CompareOptions
from ..features.quantize import STEPS, QuantizeOptions, quantize
from ..features.reduce_bones.reduce_bones import (
    NothingToRemove,
    ReduceBonesOptions,
    reduce_bones,
    reduce_bones_report,
)
from ..features.repair.repair import Repaired, RepairInput, repair
from ..features.transfer.options import TransferOptions
from ..features.transfer.source import Source
from ..features.transfer.transfer import transfer, transfer_report
from ..model.options import Options
from ..model.sparse_weights import SparseWeights
from ..reports.report import names_in_line
from .character import Character
from .check import CHECK_POSES, problem_as_it_is
from .file.accessors import BYTE, FLOAT, SHORT
from .unused_joints import drop_unused_joints
from .work import poses_asked_for

STORED = {"8": BYTE, "16": SHORT, "NONE": FLOAT}


def repair_character(
    character: Character,
    options: Options,
    kinds: Collection[str],
    threads: int = 0,
    progress: Listener | None = None,
) -> tuple[Repaired, dict[str, Any]]:
    """Returns (Repaired, report). Regions with findings of these kinds get new weights, which are
    stored in the document. All other weights stay unchanged to the last bit."""
    start = time.perf_counter()
    checking = replace(options, rigid_parts="OFF", pose_count=CHECK_POSES)
    problem, _rows = problem_as_it_is(character, checking, threads, progress)
    skeleton, meshes = problem.skeleton, character.meshes
    if options.control_bones == "LEAVE_OUT":
        used = np.zeros(len(skeleton.names), bool)
        for rows in character.weights:
            used[rows.bones] = True
        taken = replace(skeleton, taken_in=skeleton.taken_in | used)
        facts = character.facts(taken)
        _meshes, skeleton = finish(leave_out_in_steps(meshes, taken, threads, facts), progress)
    poses = checked_poses(problem, checking)
    given = poses_asked_for(character, options)
    source = RepairInput(
        problem, meshes, [None] * len(meshes), poses, checking, skeleton, given, options
    )

    def wanted(finding: Finding) -> bool:
        return finding.kind in kinds

    done = repair(source, wanted, None, threads, progress)
    character.write(done.weights, changed=done.changed)
    found = as_json([each.finding for each in done.outcomes], problem)
    report = {
        "armature": character.name,
        "vertices": sum(problem.sizes),
        "changed": int(sum(each.sum() for each in done.changed)),
        "repairs": [
            {
                **about,
                "result": outcome.result,
                "severity_now": round(float(outcome.severity), 3),
                "why": outcome.words,
            }
            for outcome, about in zip(done.outcomes, found, strict=True)
        ],
        "seconds": time.perf_counter() - start,
    }
    return done, report


def transfer_in_character(
    character: Character,
    sources: Sequence[str],
    targets: Sequence[str],
    options: TransferOptions,
    threads: int = 0,
    progress: Listener | None = None,
) -> tuple[list[SparseWeights], dict[str, Any]]:
    """Returns (the weights of all meshes, report). The targets take the weights of the sources, and
    the weights are stored in the document. Sources and targets are given by mesh or node names.
    Raises Refused."""
    start, names = time.perf_counter(), [each.names for each in character.skinned]
    wanted: list[list[int]] = []
    for asked in (sources, targets):
        wanted.append([k for k, own in enumerate(names) if own & set(asked)])
        missing = sorted(set(asked) - set().union(*names))
        if missing:
            known = names_in_line([each.mesh.name for each in character.skinned])
            raise Refused(f"has no skinned mesh '{missing[0]}'; available: {known}")
    both = set(wanted[0]) & set(wanted[1])
    if both:
        name = character.meshes[min(both)].name
        raise Refused(f"'{name}' is both a source and a target")
    skeleton, meshes = character.skeleton, [character.meshes[k] for k in wanted[1]]
    source = Source([character.meshes[k] for k in wanted[0]], skeleton)
    done = transfer(source, meshes, skeleton, options, threads, progress)
    rows = list(character.weights)
    changed = [np.zeros(each.count, bool) for each in rows]
    for k, each in zip(wanted[1], done, strict=True):
        rows[k], changed[k] = each.rows, np.ones(each.rows.count, bool)
    character.write(rows, changed=changed)
    written: list[dict[str, Any]] = [{} for _mesh in meshes]
    report = transfer_report(source, meshes, done, options, character.name, written, start)
    return rows, report


def quantize_character(character: Character, options: QuantizeOptions) -> dict[str, Any]:
    """Quantizes the weights of the file to whole steps in the type with that many bits, and returns
    the report."""
    written, rows = [], []
    for mesh in character.meshes:
        before = mesh.weights
        bare = np.flatnonzero(before.sums() <= 0)
        if len(bare):
            raise Refused(f"'{mesh.name}' has vertices without weights (first: {bare[0]})")
        limits = np.full(before.count, options.limit)
        after = quantize(before, STEPS[options.bits], limits, options.threshold)
        rows.append(after)
        _vertices, off = before.differences(after)
        written.append(
            {
                "name": mesh.name,
                "vertices": after.count,
                "changed": int((off > 0).sum()),
                "removed": len(before.bones) - len(after.bones),
                "most_influences": int(np.diff(after.start).max()),
                "largest_change": float(off.max(initial=0)),
            }
        )
    character.write(rows, STORED[options.bits])
    return {
        "armature": character.name,
        "vertices": sum(each["vertices"] for each in written),
        "objects": written,
        "options": options.as_dict(),
    }


def reduce_character(
    character: Character,
    table: ReduceBonesOptions,
    options: Options,
    threads: int = 0,
    progress: Listener | None = None,
) -> dict[str, Any]:
    """Returns the report. Some joints no longer deform anything, and the weights of the other
    joints compensate as well as possible. Joints without vertices leave the skins, but their nodes
    stay in the document. The report has a reason, `unchanged`, if there is no joint to remove."""
    problem, rows = problem_as_it_is(character, options, threads)
    skeleton = problem.skeleton
    poses = pose_set(problem, replace(options, pose_count=CHECK_POSES))
    arguments = problem.arguments
    try:
        fewer = reduce_bones(
            arguments["vertices"],
            arguments["triangles"],
            rows,
            skeleton,
            poses.transforms,
            table,
            edges=arguments["edges"],
            threads=threads,
            progress=progress,
            unused=skeleton.left_out,
        )
    except NothingToRemove as reason:
        facts = {"armature": character.name, "removed": {}, "unchanged": str(reason)}
        return facts | {"vertices": sum(problem.sizes)}
    parts = problem.split(fewer.rows)
    character.write(parts)
    written = [{"name": name} for name in problem.names]
    report = reduce_bones_report(character.name, skeleton, fewer, written, [], table)
    left = drop_unused_joints(character.document, [s.number for s in character.armature.skins])
    return report | {"vertices": sum(problem.sizes), "skin_joints": list(left.values())}


def compare_character(
    character: Character,
    options: CompareOptions,
    methods: Sequence[str] | None = None,
    threads: int = 0,
    progress: Listener | None = None,
) -> Comparison:
    """Compares all methods on a character, including the weights of the file."""
    own = Options(max_influences=options.max_influences, seed=options.seed)
    problem, rows = problem_as_it_is(character, own, threads)
    poses = {RANDOM: judged_poses(problem.skeleton, options)}
    frames = character.poses(options.judged_frames)
    if len(frames.transforms):
        poses[ANIMATION] = frames
    present = rows if len(rows.bones) else None
    return compare(
        Case(character.name, problem, poses, present), options, threads, progress, methods
    )
