"""Defines the commands task, serve and merge, which process many files."""

from __future__ import annotations

import argparse
import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ..base.printed import say
from ..base.refusal import Refused
from ..base.stop import Stop
from ..cli.batch import tasks
from ..cli.batch.pool import Pool, Progress, free_memory
from ..cli.batch.process import serve
from ..cli.batch.reports import INDEX, merge_and_warn, write_report
from ..cli.batch.tasks import Plan, Task, make_task, read_plan, reason_of
from ..cli.errors import WrongArguments
from ..cli.processors import threads_of_job
from ..disk.files import placed
from ..disk.outputs import BLEND, refuse_foreign

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


def left_to_do(plan: Plan, arguments: argparse.Namespace) -> Plan:
    """The entries of a plan [(input, output)] that --resume does not skip, and says how many it
    skips."""
    left = tasks.left_to_do(plan, arguments)
    if len(left) < len(plan):
        say(f"{len(plan) - len(left)} of {len(plan)} files were already done")
    return left


def run_jobs(
    plan: Plan,
    arguments: argparse.Namespace,
    command: Sequence[str],
    failed: Callable[[str], object],
    stop: Stop,
) -> list[dict[str, Any]]:
    """Runs --jobs and returns the results in the order of the plan."""
    settings = vars(arguments) | {"threads": threads_of_job(arguments.threads, arguments.jobs)}
    todo: list[Task] = []
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
            todo.append(make_task(source, target, type(arguments)(**settings)))
        except (Refused, OSError) as error:
            names = {"input": str(placed(source)), "output": str(placed(target))}
            results[tuple(names.values())] = names | {"error": reason_of(error)}
            failed_with(names | {"error": reason_of(error)})
    if todo:
        progress = Progress(todo, arguments.jobs)

        def both(task: Task, result: dict[str, Any]) -> None:
            finished(task, result)
            progress(task, result)

        Pool(command, arguments.jobs, free_memory()).run(todo, both, stop)
    return [results[str(placed(source)), str(placed(target))] for source, target in plan]
