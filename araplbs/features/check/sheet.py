"""Draws the sheet of a character with the findings of its weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...base.arrays import Array, Floats
from ...base.progress import Listener, Progress
from ...character.pose_sets import checked_poses
from ...character.problem import Problem
from ...model.options import Options
from ...model.sparse_weights import SparseWeights
from ...reports.sheet import Mark, Shown, sheet
from .check import CHECK_POSES, check
from .findings import Finding, level
from .kinds import KIND_OF, OF_MESH


def checked_sheet(
    title: str,
    problem: Problem,
    sets: Sequence[tuple[str, SparseWeights]],
    options: Options,
    up: Floats | None = None,
    threads: int = 0,
    progress: Listener | None = None,
) -> Array | None:
    """The pixels of a sheet() of these sets of weights, [(name, rows of the Problem)], whose
    findings are marked."""
    progress, shown = Progress.of(progress), []
    options = replace(options, rigid_parts="OFF", pose_count=CHECK_POSES)
    poses = checked_poses(problem, options)
    for number, (name, rows) in enumerate(sets):
        part = progress.part(0.5 * number / len(sets), 0.5 / len(sets))
        found = check(problem, rows, poses, options, threads, part)
        shown.append(Shown(name, rows, marks_of(found, problem)))
    return sheet(title, problem, shown, options, up, threads, progress.part(0.5, 0.5))


def marks_of(findings: Sequence[Finding], problem: Problem) -> list[Mark]:
    """The findings about weights, as marks in pictures."""
    names = problem.skeleton.names
    return [
        Mark(
            level(each.severity),
            " ".join([KIND_OF[each.kind].name, *([names[each.bone]] if each.bone >= 0 else [])]),
            f"{KIND_OF[each.kind].name}: {each.words}",
            problem.images(each.mesh, each.vertices)[1],
        )
        for each in findings
        if each.kind not in OF_MESH
    ]
