"""Computes new weights for a character in a glTF file, or for a part of the character."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..base.progress import Listener
from ..base.refusal import Refused
from ..character.part import WHOLE, Part, beside_kept
from ..character.part_choices import with_choices
from ..features.check.lost import with_lost
from ..measures.standing import standing
from ..model.options import Options
from ..reports.report import make_report
from ..skeleton.poses import Poses
from ..solvers.weigh import Weighed, weigh
from .character import Character


def poses_asked_for(character: Character, options: Options) -> Poses | None:
    """The poses that the options request from the character's animations."""
    if options.animation == "NONE":
        return None
    return character.poses(options.animation_frames).weighted(options.pose_weight)


def weigh_character(
    character: Character,
    options: Options,
    rigid: Sequence[Sequence[Any]] = (),
    threads: int = 0,
    progress: Listener | None = None,
    compares: bool = False,
    part: Part = WHOLE,
    parts: Sequence[Mapping[str, Any]] = (),
) -> tuple[Weighed, dict[str, Any]]:
    """Returns (new weights, report). rigid: for each mesh, the vertices of parts that keep their
    shape. compares: whether to add "compared", the result of standing(), to the report. part: the
    part of the character that gets new weights. parts: choices of bones for loose parts, see
    with_choices(). The document is not changed (see Character.write())."""
    meshes, skeleton = character.meshes, character.skeleton
    if not part.whole:
        meshes, skeleton = part.locked(meshes, skeleton, [m.names for m in character.skinned])
    if rigid:
        meshes = [
            replace(mesh, edits=replace(mesh.edits, rigid=list(parts)))
            for mesh, parts in zip(meshes, rigid, strict=True)
        ]
    try:
        meshes = with_choices(meshes, character.skeleton, parts)
    except ValueError as error:
        raise Refused(str(error)) from None
    found = weigh(
        meshes,
        skeleton,
        options,
        facts_of=character.facts,
        poses=poses_asked_for(character, options),
        threads=threads,
        progress=progress,
    )
    report = make_report(found.problem, found.solution, options, character.name)
    if compares:
        present = found.problem.present(meshes)
        deformation = report["deformation"]
        compared = standing(found.problem, present, deformation, options, threads)
        rows = found.solution.rows
        report["compared"] = with_lost(compared, found.problem, present, rows)
    if not part.whole:
        found.rows = [beside_kept(*each) for each in zip(meshes, found.rows, strict=True)]
    return found, report
