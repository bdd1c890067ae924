"""Defines the commands task, serve and merge, which process many files."""

from __future__ import annotations

import argparse
import json
import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ..base.printed import complain, say
from ..base.refusal import Refused
from ..base.stop import Stop
from ..cli.errors import WrongArguments
from ..cli.processors import threads_of_job
from ..disk.files import placed
from ..disk.outputs import BLEND, refuse_foreign
from .pool import Pool, Progress, free_memory
from .process import serve
from .reports import INDEX, merge, write_report
from .tasks import Plan, Task, done_before, make_task, read_plan

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
    tasks = read_plan(arguments.plan)
    if not 1 <= arguments.number <= len(tasks):
        raise WrongArguments(
            f"there is no task {arguments.number}: the plan has {len(tasks)} tasks"
        )
    return run(tasks[arguments.number - 1]["arguments"])


def _serve(arguments: argparse.Namespace, run: Run) -> int:
    serve(run, arguments.key, lambda: os.kill(os.getpid(), signal.SIGTERM))
    return 0


def _merge(arguments: argparse.Namespace, _run: Run) -> int:
    count = merge_and_warn(arguments.folder)
    say(f"{count} rows in {Path(arguments.folder, INDEX)}")
    return 0


def reason_of(error: Refused | OSError) -> str:
    """The reason why a file cannot be read, without its name."""
    if isinstance(error, FileNotFoundError):
        return "no such file"
    return str(error) if isinstance(error, Refused) else error.strerror or str(error)


def merge_and_warn(folder: str | Path) -> int:
    """Writes the table and the page of a folder of reports, warns about unreadable reports, and
    returns the number of rows."""
    count, bad = merge(folder)
    for line in bad:
        say(f"  warning: {line}")
    return count


def left_to_do(plan: Plan, arguments: argparse.Namespace) -> Plan:
    """The entries of a plan [(input, output)] that --resume does not skip."""
    if not arguments.resume:
        return plan
    left = [each for each in plan if not done_before(*each, arguments)]
    if len(left) < len(plan):
        say(f"{len(plan) - len(left)} of {len(plan)} files were already done")
    return left


def print_plan(plan: Plan, arguments: argparse.Namespace) -> int:
    """Prints the tasks, the most expensive first, and returns the exit code."""
    tasks, code = [], 0
    for source, target in plan:
        try:
            tasks.append(make_task(source, target, arguments))
        except (Refused, OSError) as error:
            complain(f"araplbs: {source}: {reason_of(error)}")
            code = 1
    for task in sorted(tasks, key=lambda task: -task["seconds"]):
        print(json.dumps(task), flush=True)
    return code


def run_jobs(
    plan: Plan,
    arguments: argparse.Namespace,
    command: Sequence[str],
    failed: Callable[[str], object],
    stop: Stop,
) -> list[dict[str, Any]]:
    """Runs --jobs and returns the results in the order of the plan."""
    settings = vars(arguments) | {"threads": threads_of_job(arguments.threads, arguments.jobs)}
    tasks: list[Task] = []
    results: dict[tuple[str, ...], dict[str, Any]] = {}

    def failed_with(result: dict[str, Any]) -> None:
        failed(f"{result['input']}: {result['error']}")
        if arguments.report:
            try:
                write_report(arguments, result)
            except (Refused, OSError) as error:
                failed(f"{result['input']}: its report: {error}")

    def finished(task: Task, result: dict[str, Any]) -> None:
        results[result["input"], result["output"]] = result
        if result.pop("died", False):
            failed_with(result)
        elif "error" in result:
            failed(f"{result['input']}: {result['error']}")

    for source, target in plan:
        try:
            refuse_foreign(target, BLEND)
            tasks.append(make_task(source, target, type(arguments)(**settings)))
        except (Refused, OSError) as error:
            names = {"input": str(placed(source)), "output": str(placed(target))}
            results[tuple(names.values())] = names | {"error": reason_of(error)}
            failed_with(names | {"error": reason_of(error)})
    if tasks:
        progress = Progress(tasks, arguments.jobs)

        def both(task: Task, result: dict[str, Any]) -> None:
            finished(task, result)
            progress(task, result)

        Pool(command, arguments.jobs, free_memory()).run(tasks, both, stop)
    return [results[str(placed(source)), str(placed(target))] for source, target in plan]
