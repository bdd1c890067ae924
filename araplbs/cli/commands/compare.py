"""araplbs compare: creates a page that compares methods on the characters of a file."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ...base.refusal import Refused
from ...disk.outputs import COMPARISON_PAGE, refuse_foreign
from ...features.compare.compare import compare_summary
from ...features.compare.files import is_page, refuse_folder, write_comparisons, write_page
from ...features.compare.methods import find_methods
from ...features.compare.options import CompareOptions
from ...features.compare.page import page
from ...gltf.changes import compare_character
from ...usd.stage import SUFFIXES as USD_SUFFIXES
from ..command import Command, Job
from ..errors import WrongArguments
from ..own_arguments import add_methods


def _add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--output",
        "-o",
        required=True,
        metavar="FOLDER|PAGE.html",
        help="folder of the page, or a .html file for the page alone",
    )
    add_methods(parser)


def _check(arguments: argparse.Namespace) -> None:
    if len(arguments.input) > 1:
        raise WrongArguments(f"only one FILE can be compared at a time, not {len(arguments.input)}")
    try:
        find_methods(arguments.method)
        if is_page(arguments.output):
            refuse_foreign(arguments.output, COMPARISON_PAGE)
        else:
            refuse_folder(arguments.output)
    except Refused as error:
        raise WrongArguments(str(error)) from None


def _work(job: Job) -> None:
    made: list[tuple[str, str, dict[str, Any]]] = []
    arguments = job.arguments
    for character in job.characters(job.read()):
        found = compare_character(
            character, job.options, arguments.method, arguments.threads, job.progress
        )
        about = f"{job.source.name}: {', '.join(found.case.problem.names)}"
        content = found.as_dict()
        job.add(character, content, [compare_summary(content)])
        if job.draws:
            from ...gltf.picture import comparison_sheet

            job.sheets.append(comparison_sheet(found, about, arguments.threads, job.progress))
        made.append((character.name, page(found, about, None, arguments.threads), content))
    if is_page(arguments.output):
        index = write_page(Path(arguments.output), made)
    else:
        index = write_comparisons(Path(arguments.output), made)
    job.say(f"{job.source}: saved {index}")


COMMAND = Command(
    "compare",
    "Weights the characters of a file with several methods and judges the results in poses for "
    "which none was optimized. The file itself is not changed.",
    """examples:
  araplbs compare in.glb -o report/
  araplbs compare in.glb -o page.html --json report.json
  araplbs compare in.glb -o report/ --method present --method heat --method ours
  araplbs compare in.glb -o report/ --method present --method ours --picture out.png""",
    CompareOptions,
    _work,
    also_reads=USD_SUFFIXES,
    saves=False,
    draws=True,
    add=_add,
    check=_check,
)
