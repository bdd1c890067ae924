"""Defines the commands task, serve and merge, which process many files."""

from __future__ import annotations

import argparse
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..base.printed import say
from ..cli.batch.process import serve
from ..cli.batch.reports import INDEX, merge_and_warn
from ..cli.batch.tasks import read_plan
from ..cli.errors import WrongArguments

Run = Callable[..., int]  # the command as a function of (arguments, results)
HELPS = {"merge": "write the table and the page for a folder of reports"}


def add_commands(commands: Any) -> None:
    """Adds the commands that do not compute weights. Only programs call the first two."""
    task = commands.add_parser(
        "task",
        description="Runs one of the tasks printed by --plan. A farm calls this command.",
    )
    task.add_argument("plan", metavar="PLAN", help="the output of --plan")
    task.add_argument("number", type=int, metavar="NUMBER", help="1 for the first, and so on")
    task.set_defaults(apart=_task)
    serving = commands.add_parser(
        "serve",
        description="Runs tasks from standard input, one line of JSON each. --jobs and the farm "
        "call this command.",
    )
    serving.add_argument("key", metavar="KEY", help="prefix of the replies")
    serving.set_defaults(apart=_serve)
    merging = commands.add_parser(
        "merge",
        description="Merges the reports of single files into one table and one page.",
    )
    merging.add_argument("folder", metavar="FOLDER")
    merging.set_defaults(apart=_merge)


def _task(arguments: argparse.Namespace, run: Run) -> int:
    plan = read_plan(arguments.plan)
    if not 1 <= arguments.number <= len(plan):
        raise WrongArguments(f"there is no task {arguments.number}: the plan has {len(plan)} tasks")
    return run(plan[arguments.number - 1]["arguments"])


def _serve(arguments: argparse.Namespace, run: Run) -> int:
    serve(run, arguments.key, lambda: os.kill(os.getpid(), signal.SIGTERM))
    return 0


def _merge(arguments: argparse.Namespace, _run: Run) -> int:
    count = merge_and_warn(arguments.folder)
    say(f"{count} rows in {Path(arguments.folder, INDEX)}")
    return 0
