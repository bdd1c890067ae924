"""Determines all files that a run of the command line will write, before any work begins."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence
from pathlib import Path

from ..cli.batch.reports import report_files
from ..cli.batch.tasks import Plan, named_files
from ..cli.errors import WrongArguments
from ..cli.files import named_output, only_input
from ..disk.files import placed
from ..disk.outputs import BLEND, RESULTS, Outputs

BLEND_NAME = re.compile(r".*\.blend\d*", re.IGNORECASE | re.DOTALL)


def plan_outputs(inputs: Sequence[Path], output: str | None, in_place: bool = False) -> Plan:
    """Returns [(input, output)]. Raises WrongArguments if the outputs are ambiguous or one output
    would hold several inputs."""
    output = named_output(output, in_place)
    if output is None:
        return [(path, path) for path in inputs]
    target = Path(output)
    is_file = BLEND_NAME.fullmatch(target.name) and not output.endswith(("/", os.sep))
    if target.is_dir() or (output.endswith(("/", os.sep)) and not target.is_file()):
        plan = _into_folder(inputs, target)
    elif is_file or (len(inputs) == 1 and target.name == inputs[0].name):
        plan = [(only_input(inputs, output), target)]
    elif len(inputs) > 1:
        plan = _into_folder(inputs, target)
    else:
        raise WrongArguments(f"--output {output}: is neither a .blend file nor a folder")
    own = {_name_of(path) for path in inputs}
    for _source, target in plan:
        if _name_of(target) in own:
            raise WrongArguments(
                f"the output {target} would replace an input: use --in-place to allow this"
            )
    return plan


def _into_folder(inputs: Sequence[Path], folder: Path) -> Plan:
    names = [path.name for path in inputs]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise WrongArguments(
            f"several inputs are named {', '.join(twice)}: specify an output for each"
        )
    return [(path, folder / path.name) for path in inputs]


def _name_of(path: Path | None) -> str:
    return os.path.normcase(placed(path))


def all_outputs(plan: Plan, arguments: argparse.Namespace) -> Outputs:
    """The Outputs of a plan [(input, output)]. Raises Refused like its methods."""
    outputs = Outputs(arguments.input, named_files(arguments).items())
    in_place = getattr(arguments, "in_place", False)
    for source, target in plan:
        if target is not None:
            outputs.add(target, BLEND, "output", source if in_place else None)
    if arguments.report and plan:
        targets = [target for _source, target in plan]
        pictures = arguments.does.has_pictures
        for path, kind, what in report_files(arguments.report, targets, pictures, arguments.merge):
            outputs.add(path, kind, what)
    if arguments.json and arguments.json != "-":
        outputs.add(arguments.json, RESULTS, "report")
    if arguments.does.also_writes:
        outputs.add_all(arguments.does.also_writes(arguments, ()))
    return outputs
