"""araplbs check: reports findings about the weights in a file."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from ...base.refusal import Refused, naming
from ...character.problem import Problem
from ...disk.files import identity
from ...features.check.report import check_summary, in_words, mark_new
from ...gltf.check import check_character
from ...model.options import Options
from ...usd.stage import SUFFIXES as USD_SUFFIXES
from ..command import Command, Job
from ..files import refuse_input
from ..own_arguments import add_fail_on, code_of_findings
from .weight import refuse_animation

ONLY = frozenset(
    (
        *("max_influences", "symmetric", "swing", "twist", "limb_twist", "reach_poses", "seed"),
        *("bone_directions", "animation", "animation_frames"),
    )
)


def _add(parser: argparse.ArgumentParser) -> None:
    add_fail_on(parser)
    parser.add_argument(
        "--baseline",
        metavar="FILE|FOLDER",
        help="list and count only findings that this earlier file does not have; a folder contains "
        "files of the same names",
    )


def _check(arguments: argparse.Namespace) -> None:
    refuse_animation(arguments)
    if arguments.baseline is not None and not os.path.isdir(arguments.baseline):
        refuse_input(arguments.baseline, USD_SUFFIXES)


def _baseline(job: Job) -> list[tuple[Problem, dict[str, Any]]] | None:
    """The problems and reports of the characters of the baseline; None without one. A file that the
    folder lacks has none."""
    if job.arguments.baseline is None:
        return None
    path = Path(job.arguments.baseline)
    if path.is_dir():
        path /= job.source.name
        if not path.exists():
            job.say(f"{job.source}: {path} does not exist, so all findings are new")
            return []
    if identity(path) == identity(job.source):
        raise Refused("the baseline is the file itself, so no finding could be new")
    with naming(path, job.source):
        return [
            check_character(character, job.options, job.arguments.threads, job.progress)
            for character in job.characters(job.read(path))
        ]


def _compare(
    problem: Problem,
    report: dict[str, Any],
    baseline: list[tuple[Problem, dict[str, Any]]],
    number: int,
) -> None:
    """Marks the findings of a report that the character of the same name, or the only one, does not
    have in the baseline. number: of the character among those of its name."""
    named = [each for each in baseline if each[1]["armature"] == report["armature"]]
    others = (named or (baseline if len(baseline) == 1 else []))[number:]
    if not others:
        mark_new(report, None, ())
        return
    earlier, before = others[0]
    sizes, known = (dict(zip(p.names, p.sizes, strict=True)) for p in (problem, earlier))
    mark_new(report, before, [name for name, size in sizes.items() if known.get(name) == size])


def _work(job: Job) -> None:
    baseline = _baseline(job)
    for character in job.characters(job.read()):
        problem, report = check_character(
            character, job.options, job.arguments.threads, job.progress
        )
        if baseline is not None:
            names = [each["armature"] for each in job.reports]
            _compare(problem, report, baseline, names.count(report["armature"]))
        job.reports.append(report)
        new = f"; new: {in_words(report['health_new'])}" if "health_new" in report else ""
        job.say(f"{job.source}: {character.name}: {check_summary(report)}{new}")
        job.draw(character, job.options)
    job.code = code_of_findings(job.arguments, job.reports)


COMMAND = Command(
    "check",
    "Prints findings about the weights of each file, worst first, and changes no file.",
    """examples:
  araplbs check out.glb
  araplbs check *.glb --fail-on medium --json findings.json
  araplbs check out.glb --baseline in.glb
  araplbs check out.glb --picture out.png

exit codes: 0 no finding reaches --fail-on, 3 a finding does, 1 a file could not be checked""",
    Options,
    _work,
    also_reads=USD_SUFFIXES,
    saves=False,
    draws=True,
    page=True,
    only=ONLY,
    add=_add,
    check=_check,
)
