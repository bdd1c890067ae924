"""The files that a run of the command line will write, all of it before any work begins."""

import os
import re
from collections import defaultdict
from pathlib import Path

from araplbs.base.refusal import Refused
from araplbs.disk.outputs import BLEND, PICTURE, REPORT, REPORT_PAGE, RESULTS, TABLE, Outputs

from .reports import INDEX, TABLE_NAME, picture_name
from .tasks import named_files, report_path

BLEND_NAME = re.compile(r".*\.blend\d*", re.IGNORECASE | re.DOTALL)
PICTURE_NAME = re.compile(r"(.*)\.\d+\.png", re.DOTALL)


def plan_outputs(inputs, output):
    """[(input, output)], where nothing is saved with None for the output. Raises Refused when one
    output would hold several inputs."""
    if output is None:
        return [(path, None) for path in inputs]
    target = Path(output)
    into_folder = len(inputs) > 1 or target.is_dir() or output.endswith(("/", os.sep))
    if not into_folder:
        if not BLEND_NAME.fullmatch(target.name) and target.name != inputs[0].name:
            raise Refused(f"--output {output}: not a folder, and no name of a .blend file")
        return [(inputs[0], target)]
    names = [path.name for path in inputs]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise Refused(f"several inputs are called {', '.join(twice)}: give them other outputs")
    return [(path, target / path.name) for path in inputs]


def all_outputs(plan, arguments):
    """The Outputs of a plan [(input, output)]. Raises Refused as they do."""
    outputs = Outputs(arguments.input, named_files(arguments).items())
    for source, target in plan:
        if target is not None:
            outputs.add(target, BLEND, "output", source)
    if arguments.report and plan:
        _add_reports(outputs, [target for _source, target in plan], arguments)
    if arguments.json:
        outputs.add(arguments.json, RESULTS, "report")
    if arguments.does.also_writes:
        outputs.add_all(arguments.does.also_writes(arguments, ()))
    return outputs


def _add_reports(outputs, targets, arguments):
    """How many pictures there will be is known when a file is open: those that are there count."""
    folder, pictures = arguments.report, defaultdict(set)
    if os.path.isdir(folder):
        for name in os.listdir(folder):
            if found := PICTURE_NAME.fullmatch(name):
                pictures[found[1]].add(name)
    for target in targets:
        outputs.add(report_path(folder, target), REPORT, "report")
        if arguments.does.has_pictures:
            for name in sorted({picture_name(target, 0), *pictures[target.name]}):
                outputs.add(Path(folder, name), PICTURE, "picture")
    if arguments.merge:
        outputs.add(Path(folder, TABLE_NAME), TABLE, "table")
        outputs.add(Path(folder, INDEX), REPORT_PAGE, "page")
