"""araplbs COMMAND FILE...: parses the arguments, processes the files one by one, and returns the
exit code.

Only the module of the requested command is loaded, because startup takes most of the time for a
small file.
"""

from __future__ import annotations

import argparse
import base64
import importlib
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

from ..base.engine import engine
from ..base.faults import sentence
from ..base.printed import complain, printable
from ..base.progress import Listener
from ..base.refusal import Refused
from ..base.stop import Stop, Stopped
from ..disk.files import remove_leftovers
from ..disk.outputs import RESULTS, json_text, refuse_used, write_json
from .batch.reports import merge, write_pictures, write_report
from .batch.tasks import (
    Plan,
    add_batch,
    add_shared,
    contents_read,
    done_before,
    left_to_do,
    print_plan,
    report_folder,
)
from .batch.tasks import check as check_batch
from .command import Command, Done, Job, add_pictures, reports_of
from .errors import DONE, FAILED, WRONG, WrongArguments
from .files import all_outputs, inputs_of, outputs_of
from .options import add_options, offered, read_options
from .parser import Parser

# In the order of the help: (name, its purpose).
COMMANDS = (
    ("weight", "compute new weights for the skinned meshes of a file"),
    ("check", "report problems with the weights of a file"),
    ("repair", "repair what check finds, and nothing else"),
    ("transfer", "give clothes and other meshes the weights of the mesh beneath"),
    ("compare", "create a page that compares the weights of several methods"),
    ("joints", "move joints to better positions, with new weights"),
    ("reduce-bones", "compute weights for fewer joints"),
    ("quantize", "store weights in 8 or 16 bits with an exact sum"),
)
SCHEMA = 1  # of the output of --json
PROGRESS = "progress: "  # begins a line of --progress
EPILOG = """examples:
  araplbs weight in.glb -o out.glb
  araplbs weight characters/*.glb -o weighted/ --preset game-8 --jobs 4
  araplbs check out.glb --fail-on high --json findings.json

exit codes: 0 success, 1 a file failed, 2 wrong arguments, 3 check found a problem, or weights are
worse than before (--if-worse fail)
'araplbs COMMAND --help' lists the options of a command."""


def main(argv: Sequence[str] | None = None) -> int:
    """Returns the exit code: 0 for success, 1 if a file failed, 2 for wrong arguments, 3 for
    findings, 128 + the number of a signal that stopped it."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    argv = list(sys.argv[1:] if argv is None else argv)
    try:
        if argv[:1] == ["serve"] and len(argv) == 2:  # by --jobs and by a farm
            from .jobs import serve_tasks

            return serve_tasks(argv[1])
        with Stop() as stop:
            return _run(argv, stop)
    except WrongArguments as error:
        complain(f"araplbs: {error}")
        return WRONG
    except Stopped as end:
        complain(f"araplbs: {end}")
        return 128 + end.number
    except BrokenPipeError:  # the reader has closed the pipe
        _print_nowhere(sys.stdout)
        return DONE
    except Exception as error:
        complain(f"araplbs: {sentence('The command', error)}")
        return FAILED


def _print_nowhere(stream: TextIO) -> None:
    """Discards further output of a stream whose reader has closed the pipe."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _run(argv: list[str], stop: Stop) -> int:
    names = [name for name, _help in COMMANDS]
    if not argv or argv[0] not in names:
        return _without_command(argv, names)
    try:
        command, arguments, options = read_command(argv)
    except SystemExit:  # help was printed
        return DONE
    plan = _plan(command, arguments)
    if arguments.plan:
        return print_plan(left_to_do(plan, arguments), arguments)
    return _do_files(command, plan, options, arguments, stop)


def _plan(command: Command, arguments: argparse.Namespace) -> Plan:
    """Returns [(input, output)]. Raises WrongArguments."""
    inputs = inputs_of(arguments.input, command.also_reads)
    if getattr(arguments, "together", False) and len(inputs) < 2:
        raise WrongArguments("--together needs at least two files")
    if levels := [Path(each) for each in getattr(arguments, "lod", ())]:
        inputs = [each for each in inputs if each not in levels]
        if len(inputs) != 1:
            raise WrongArguments("--lod needs exactly one other file")
        inputs += levels
    plan: Plan = [(path, None) for path in inputs]
    if command.saves:
        plan = outputs_of(inputs, arguments.output, arguments.in_place)
    all_outputs(plan, arguments, command.draws)
    return plan


def run_task(words: list[str], results: list[dict[str, Any]]) -> int:
    """Processes one file in a process of --jobs or of a farm (batch/process.py). Adds its entry of
    the report to the results, with everything else that the main process needs, and returns the
    exit code."""
    said: list[str] = []
    try:
        with Stop() as stop:
            command, arguments, options = read_command(words)
            ((source, target),) = _plan(command, arguments)
            if arguments.resume and done_before(source, target, arguments):
                results.append({"input": str(source), "output": str(target), "skipped": True})
                return DONE
            job = Job(source, target, options, arguments, said.append, stopped_by(stop))
            done = do_file(command, job)
    except Stopped as end:
        sys.exit(128 + end.number)
    except Exception as error:
        results.append({"error": sentence("The work", error)})
        return FAILED
    pictures = [each and base64.b64encode(each).decode() for each in done.pictures]
    more = {"said": said, "pictures": pictures, "used": done.used, "code": done.code}
    results.append(done.result | more)
    return done.code


def stopped_by(stop: Stop) -> Listener:
    """A Listener that ends the work after a signal."""

    def progress(*_said: object) -> bool:
        stop.check()
        return True

    return progress


def read_command(argv: list[str]) -> tuple[Command, argparse.Namespace, Any]:
    """Returns (command, arguments, options). Raises WrongArguments, and SystemExit after printing
    help."""
    command = load_command(argv[0])
    parser = make_parser(command)
    arguments = parser.parse_args(argv[1:])
    arguments.command, arguments.parser, arguments.program = command.name, parser, "araplbs"
    check_batch(arguments, command.page)
    if command.check:
        command.check(arguments)
    defaults = command.defaults(arguments) if command.defaults else {}
    offer = offered(command.table, command.without, command.only)
    options = read_options(command.table, offer, arguments, defaults)
    return command, arguments, options


def _without_command(argv: list[str], names: list[str]) -> int:
    parser = Parser(
        prog="araplbs",
        description="Skinning weights for characters in .glb, .gltf and .vrm files.",
        epilog=EPILOG,
    )
    parser.add_argument("--version", action="version", version=f"araplbs {engine.__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for name, text in COMMANDS:
        commands.add_parser(name, help=text, add_help=False)
    if not argv:
        parser.print_help()
        return DONE
    if argv[0] not in names and not argv[0].startswith("-"):
        raise WrongArguments(f"{argv[0]} is not a command: must be {', '.join(names)}")
    try:
        parser.parse_args(argv)
    except SystemExit:
        return DONE
    raise WrongArguments("the command is missing (see araplbs --help)")


def load_command(name: str) -> Command:
    module = importlib.import_module(f".commands.{name.replace('-', '_')}", __package__)
    return module.COMMAND


def make_parser(command: Command) -> Parser:
    output = "-o FILE|FOLDER " if command.saves else ""
    parser = Parser(
        prog=f"araplbs {command.name}",
        usage=f"araplbs {command.name} FILE... {output}[options]",
        description=command.description,
        epilog=command.examples,
    )
    parser.add_argument("input", nargs="+", metavar="FILE", help=".glb, .gltf or .vrm; patterns")
    add_shared(parser, command.saves)
    if command.draws:
        parser.add_argument(
            "--picture",
            metavar="FILE.png|FOLDER",
            help="draw the character in its worst poses and in named poses, with the stretch, the "
            "findings and the bones, before and after; for several inputs a folder",
        )
    parser.add_argument(
        "--progress", action="store_true", help="print the progress to standard error"
    )
    add_batch(parser, command.saves, command.page)
    if command.add:
        command.add(parser)
    add_options(parser, offered(command.table, command.without, command.only))
    return parser


def _do_files(
    command: Command, plan: Plan, options: Any, arguments: argparse.Namespace, stop: Stop
) -> int:
    stream = sys.stderr if arguments.json == "-" else sys.stdout

    def say(text: str) -> None:
        if not arguments.quiet:
            try:
                print(printable(text), file=stream, flush=True)
            except BrokenPipeError:  # the work goes on without a reader
                _print_nowhere(stream)

    last = ""

    def progress(stage: str, fraction: float, *_energy: object) -> bool:
        nonlocal last
        stop.check()
        line = f"{PROGRESS}{100 * fraction:.0f} % {stage}"
        if arguments.progress and line != last:
            last = line
            complain(line)
        return True

    for folder in {target.parent for _source, target in plan if target}:
        remove_leftovers(folder)
    start, left = time.perf_counter(), left_to_do(plan, arguments)
    as_one = getattr(arguments, "together", False) or bool(getattr(arguments, "lod", ()))
    if not as_one and (
        (arguments.jobs and len(left) > 1) or (left and arguments.timeout is not None)
    ):
        from .jobs import do_files

        done = do_files(left, arguments, say, stop)
    else:
        done = []
        jobs = [Job(*each, options, arguments, say, progress) for each in left]
        if as_one:
            jobs[0].others = [
                replace(each, warnings=jobs[0].warnings, used=jobs[0].used) for each in jobs[1:]
            ]
            jobs = jobs[:1]
        for job in jobs:
            stop.check()
            done.append(do_file(command, job))
    results, codes = [each.result for each in done], [DONE, *(each.code for each in done)]
    try:
        refuse_used([path for each in done for path in each.used], reports_of(arguments))
        _write_report(done, arguments, say)
    except (Refused, OSError) as error:
        complain(f"araplbs: {error}")
        codes.append(FAILED)
    if len(plan) > 1 and not as_one:
        failed = sum("error" in each for each in results)
        already = f", {len(plan) - len(left)} already done" if arguments.resume else ""
        seconds = time.perf_counter() - start
        say(
            f"{len(plan)} files: {len(left) - failed} done{already}, {failed} failed, "
            f"in {seconds:.1f} s"
        )
    return FAILED if FAILED in codes else max(codes)


def do_file(command: Command, job: Job) -> Done:
    """Processes one file, and writes its report into a folder of reports. An error becomes its
    result."""
    start, folder = time.perf_counter(), report_folder(job.arguments)
    done = Done({"input": str(job.source)}, used=job.used)
    if job.target:
        done.result["output"] = str(job.target)
    try:
        if not job.source.exists():
            raise Refused("no such file")
        known = {"contents": contents_read(job.source, job.arguments)} if folder else {}
        command.work(job)
        if job.others:
            done.result["with"] = [
                {"input": str(each.source), "output": str(each.target)} for each in job.others
            ]
        done.result |= known | {"characters": job.reports, "warnings": job.warnings}
        done.code = job.code
        add_pictures(job, done)
        if folder and done.pictures:
            place = job.target or job.source
            write_pictures(folder, place, job.reports, done.pictures)
    except (Stopped, KeyboardInterrupt):
        raise
    except Exception as error:
        done.code, done.result["error"] = FAILED, sentence("The work", error)
        complain(f"araplbs: {job.source}: {done.result['error']}")
    done.result["seconds"] = time.perf_counter() - start
    if folder:
        try:
            write_report(job.arguments, done.result)
        except (Refused, OSError) as error:
            done.code, done.result["error"] = FAILED, f"its report: {error}"
            complain(f"araplbs: {job.source}: {done.result['error']}")
    return done


def _write_report(
    done: list[Done], arguments: argparse.Namespace, say: Callable[[str], None]
) -> None:
    folder = report_folder(arguments)
    if folder and arguments.merge and Path(folder).is_dir():
        for line in merge(folder)[1]:
            say(f"  warning: {line}")
    if not arguments.json and (folder or not arguments.report):
        return  # without loading NumPy for the version
    content = {
        "schema": SCHEMA,
        "version": engine.__version__,
        "command": arguments.command,
        "files": [each.result for each in done],
    }
    if arguments.json == "-":
        print(json_text(RESULTS, content), end="", flush=True)
    elif arguments.json:
        write_json(arguments.json, RESULTS, content)
    if arguments.report and not folder:
        from .page import write_report_page

        write_report_page(arguments.report, content, [each.pictures for each in done])
