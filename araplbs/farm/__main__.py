"""Runs plans on a farm. This command does not need Blender:

python -m araplbs.farm run PLAN --scheduler ADDRESS
"""

from __future__ import annotations

import argparse
import os
import sys

from ..base.printed import complain
from ..base.refusal import Refused
from ..cli.batch.reports import merge_and_warn
from ..cli.batch.tasks import read_plan
from .dask_client import run_plan
from .templates import TEMPLATES, make


def main(argv: list[str]) -> int:
    """Returns the exit code."""
    parser = argparse.ArgumentParser(prog="farm", description="Weights files on a render farm.")
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="run a plan with Dask distributed")
    run.add_argument(
        "plan",
        metavar="PLAN",
        help="the output of `araplbs weight --plan` or `blender -c araplbs weight --plan`",
    )
    run.add_argument(
        "--scheduler", required=True, metavar="ADDRESS", help="address such as tcp://host:8786"
    )
    run.add_argument(
        "--blender",
        default=os.environ.get("ARAPLBS_BLENDER", "blender"),
        help="command with which the workers start Blender (default: $ARAPLBS_BLENDER, or else "
        "blender)",
    )
    run.add_argument(
        "--araplbs",
        default="",
        help="command with which the workers start araplbs for glTF files (default: in the Python "
        "of the worker)",
    )
    run.add_argument(
        "--patience", type=float, default=60, help="seconds to wait for a scheduler (default: 60)"
    )
    merging = commands.add_parser("merge", help="write the table and the page for the reports")
    merging.add_argument("folder", metavar="FOLDER", help="of --report")
    template = commands.add_parser("template", help="print the job for another farm manager")
    template.add_argument("name", choices=list(TEMPLATES))
    arguments = parser.parse_args(argv)
    try:
        if arguments.command == "template":
            print(make(arguments.name), end="")
            return 0
        if arguments.command == "merge":
            merge_and_warn(arguments.folder)
            return 0
        tasks = read_plan(arguments.plan)
        missing = [task["input"] for task in tasks if not os.path.isfile(task["input"])]
        if missing:
            raise Refused(f"the plan refers to a missing file: {missing[0]}")
        programs = {"blender": f"{arguments.blender} -c araplbs", "araplbs": arguments.araplbs}
        return run_plan(tasks, arguments.scheduler, programs, arguments.patience)
    except (Refused, OSError) as error:
        complain(f"araplbs: {error}")
        return 1
    except KeyboardInterrupt:
        print("araplbs: stopped; running tasks are cancelled", file=sys.stderr, flush=True)
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
