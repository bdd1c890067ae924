"""Runs a command on .blend files, one file at a time, in a Blender process.

A weighted file is first saved next to its destination and then moved into place as a whole. If
anything fails or the process ends, the input and any older output stay unchanged.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ..base.engine import engine
from ..base.faults import sentence
from ..base.printed import complain, say
from ..base.refusal import Refused
from ..base.stop import Stop, Stopped
from ..cli.batch import tasks
from ..cli.batch.pool import Progress, run_jobs
from ..cli.batch.reports import merge_and_warn, write_report
from ..cli.batch.tasks import Plan
from ..cli.errors import FAILED, WRONG, WrongArguments
from ..cli.files import all_outputs, expanded, plan_of
from ..disk.files import remove_leftovers
from ..disk.outputs import BLEND, RESULTS, Outputs, json_text, write_json
from .arguments import COMMAND, read_arguments
from .command import Command
from .standard_output import StandardOutput

SCHEMA = 1  # of the output of --json: docs/manual/agents.md
BLEND_NAME = re.compile(r".*\.blend\d*", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True)
class Blender:
    """The Blender process that does the work. again: the command line that restarts it, up to and
    including the name of our command. do_file(command, source, target, arguments, stop, outputs):
    processes one file and returns its entry in the report."""

    commands: Sequence[Command]
    presets: Sequence[str]  # the user's folders
    again: Callable[[], list[str]]
    do_file: Callable[..., dict[str, Any]]


@dataclass(frozen=True)
class _Work:
    """The requested work, after all checks have passed."""

    command: Command
    plan: Plan
    arguments: argparse.Namespace
    stop: Stop
    outputs: Outputs


def run(
    argv: list[str],
    blender: Blender,
    results: list[dict[str, Any]] | None = None,
    prog: str = f"blender -c {COMMAND}",
) -> int:
    """Run the command and return its exit code: 0 if everything succeeded, 1 if a file failed or
    could not be started, 2 for wrong arguments, 3 if `check` or --if-worse found a reason to fail,
    128 + the signal that stopped it. The function appends the report entry of each file to
    `results`."""
    results = [] if results is None else results
    _print_any_name()
    try:
        return _run(argv, blender, results, prog)
    except WrongArguments as error:
        _refuse(error, results)
        return WRONG
    except Exception as error:
        return _refuse(sentence("The command", error), results)


def _run(argv: list[str], blender: Blender, results: list[dict[str, Any]], prog: str) -> int:
    def again(argv: list[str], results: list[dict[str, Any]] | None = None) -> int:
        return run(argv, blender, results)

    try:
        arguments = read_arguments(argv, blender.commands, prog, blender.presets)
    except SystemExit:  # help was printed
        return 0
    if arguments.apart:
        try:
            code: int = arguments.apart(arguments, again)
            return code
        except WrongArguments:
            raise
        except (Refused, OSError) as error:
            return _fail(error)
    try:
        with Stop() as stop:
            try:
                return _begin(arguments, blender, results, stop)
            except Refused as error:
                raise WrongArguments(str(error)) from None
            except OSError as error:
                return _refuse(error, results)
    except Stopped as end:
        _fail(end)
        return 128 + end.number


def _begin(
    arguments: argparse.Namespace, blender: Blender, results: list[dict[str, Any]], stop: Stop
) -> int:
    """Determine all work to do before any of it begins."""
    tasks.check(arguments)
    arguments.input = inputs_of(arguments.input)
    command: Command = arguments.does
    if command.choose:
        command = command.choose(command, arguments)
    plan: Plan = [(path, None) for path in arguments.input]
    if command.saves:
        plan = _plan(arguments.input, arguments.output, arguments.in_place)
    elif len(plan) > 1 and command.also_writes:
        raise WrongArguments(f"one file at a time, not {len(plan)}")
    with StandardOutput(arguments) as output:
        left = tasks.left_to_do(plan, arguments)
        if len(left) < len(plan):
            say(f"{len(plan) - len(left)} of {len(plan)} files were already done")
        outputs = all_outputs(left, arguments, command.has_pictures, lambda _path: BLEND)
        if command.also_writes:
            outputs.add_all(command.also_writes(arguments, ()))
        if arguments.plan:
            return tasks.print_plan(left, arguments)
        return _do_files(_Work(command, left, arguments, stop, outputs), blender, results, output)


def inputs_of(patterns: Sequence[str]) -> list[Path]:
    """The files for these names and patterns, without duplicates. Raises WrongArguments for a
    pattern that matches nothing, and if none of the names is a file. If only some files are
    missing, these fail later, and the others are processed."""
    names = expanded(patterns)
    if not any(os.path.exists(name) and not os.path.isdir(name) for name in names):
        reasons = (
            f"{name}: {'a folder, not a .blend file' if os.path.isdir(name) else 'no such file'}"
            for name in names
        )
        raise WrongArguments("; ".join(reasons))
    return list(dict.fromkeys(map(Path, names)))


def _plan(inputs: Sequence[Path], output: str | None, in_place: bool) -> Plan:
    """Returns [(input, output)]. The output of a single file may have the file's own name, even if
    it is not that of a .blend file. Raises WrongArguments."""

    def is_file(name: str) -> bool:
        own = len(inputs) == 1 and Path(name).name == inputs[0].name
        return own or bool(BLEND_NAME.fullmatch(Path(name).name))

    return plan_of(inputs, output, in_place, is_file, ".blend")


def _print_any_name() -> None:
    """Allow printing names that are not UTF-8 or that the terminal cannot show."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _do_files(
    work: _Work, blender: Blender, results: list[dict[str, Any]], output: StandardOutput
) -> int:
    command, plan, arguments, outputs = work.command, work.plan, work.arguments, work.outputs
    for folder in outputs.folders():
        remove_leftovers(folder)
    if arguments.jobs:
        shown = partial(Progress, jobs=arguments.jobs)
        results += run_jobs(plan, arguments, blender.again(), work.stop, shown)
    else:
        _do_here(work, blender, results)
    failures = sum("error" in result for result in results)
    code = 1 if failures else 0
    try:
        content = {"schema": SCHEMA, "version": engine.__version__, "command": arguments.command}
        content |= {"fingerprint": tasks.fingerprint(arguments), "files": results}
        if arguments.json == "-":
            output.write(json_text(RESULTS, content))
        elif arguments.json and failures < max(len(plan), 1):
            write_json(arguments.json, RESULTS, content)
    except (Refused, OSError) as error:
        code = _fail(error)
    try:
        if arguments.report and arguments.merge and (plan or Path(arguments.report).is_dir()):
            merge_and_warn(arguments.report)
        conclude = command.finish or command.code_of
        if not code and conclude:
            return conclude(arguments, results)
    except (Refused, OSError) as error:
        code = _fail(error)
    return code


def _do_here(work: _Work, blender: Blender, results: list[dict[str, Any]]) -> None:
    """Process one file after another in this process."""
    arguments = work.arguments
    for source, target in work.plan:
        work.stop.check()
        result: dict[str, Any] = {"input": str(source)}
        if target:
            result["output"] = str(target)
        try:
            say(f"{source}")
            result |= blender.do_file(
                work.command, source, target, arguments, work.stop, work.outputs
            )
        except Exception as error:  # the other files are processed anyway
            of_blender = type(error) is RuntimeError  # how Blender's operators fail
            result["error"] = str(error) if of_blender else sentence("The work", error)
            if isinstance(error, FileNotFoundError) and error.filename == str(source):
                result["error"] = "no such file"
            _fail(f"{source}: {result['error']}")
        if arguments.report:
            try:
                write_report(arguments, result)
            except (Refused, OSError) as error:
                result["error"] = f"its report: {error}"
                _fail(f"{source}: {result['error']}")
        results.append(result)
        work.stop.release()


def _refuse(error: Exception | str, results: list[dict[str, Any]]) -> int:
    """Report a refusal. The reason becomes the only result if no file has a result yet."""
    if not results:
        results.append({"error": str(error)})
    return _fail(error)


def _fail(error: BaseException | str) -> int:
    complain(f"araplbs: {error}")
    return FAILED


class Lines:
    """Reports progress as lines, one for each stage and for every ten percent. Later stages are
    combined. named: whether all stages are reported by name."""

    def __init__(self, name: str, stop: Stop, named: bool = False) -> None:
        self.name, self.stop, self.named = name, stop, named
        self.last: tuple[str, int] | None = None

    def __call__(self, stage: str, fraction: float, _energy: float) -> bool:
        self.stop.check()
        early = self.named or fraction < 0.25
        step = (stage if early else "optimization", int(10 * fraction))
        if step != self.last:
            self.last = step
            say(f"  {self.name}: {100 * fraction:3.0f} % {step[0]}")
        return True


def warn(lines: list[str]) -> list[str]:
    """Print warnings and return them."""
    for line in lines:
        say(f"  warning: {line}")
    return lines
