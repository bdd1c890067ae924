"""Defines tasks. Each task names one file and contains all data that a process needs to weight it
on any machine.

A task is a JSON-compatible dictionary:
  input, output   absolute paths
  program         "blender", or "araplbs" for glTF files
  arguments       the arguments after `blender -c araplbs` or `araplbs`
  seconds, bytes  the approximate cost: processor time and memory
  timeout         seconds after which it has failed, 0 for none
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import re
from argparse import SUPPRESS, BooleanOptionalAction
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...base.engine import engine
from ...base.printed import complain
from ...base.refusal import Refused, naming
from ...disk.blend_file import count
from ...disk.files import content_mark, has_content, identity, placed, refuse_input
from ...disk.inputs import read_input, read_input_text
from ...gltf.file.container import is_gltf, read_head
from ...usd.stage import UsdDocument, is_usd
from ..errors import WrongArguments

Task = dict[str, Any]
Plan = list[tuple[Path, Any]]  # of (input, output or None)

PAGES = (".html", ".htm")
MOST_BYTES = 1 << 28  # of a plan, or of a report
# Options that do not affect the weights.
APART = (
    *("help", "input", "output", "json", "threads", "jobs", "timeout", "resume", "report", "plan"),
    *("merge", "in_place", "quiet", "preset"),
)

# Measured with one thread and 80 poses (docs/farm.md): seconds and bytes of a process without an
# open file, and the increments per file, per vertex, and per vertex and bone.
FILE_SECONDS, VERTEX_SECONDS = 0.3, 1.6e-4
START_BYTES, VERTEX_BYTES, BONE_BYTES = 270e6, 4e3, 35
POSES = 80
BYTES_OF_VERTEX = 60  # for a file whose content is unknown

# The default of --timeout: an hour, or this multiple of the expected time.
TIMEOUT, SLOWER = 3600.0, 30.0
# Commands that tasks must not contain, because they run tasks or write reports about tasks.
NO_TASKS = ("task", "serve", "merge")

# Files that are read in addition to the input, as {name in a report: option that names the file}.
# Keep Weights writes its file instead.
READ_FILES = {
    "tets": "tet_file",
    "kept weights": "file",
    "skeleton": "skeleton",
    "predicted rig": "predicted",
    "selection": "only_selected",
    "parts": "parts",
    "baseline": "baseline",  # or a folder
}
WRITES_FILE = "keep"


def add_shared(parser: argparse.ArgumentParser, saves: bool, has_json: bool = True) -> None:
    """Adds the arguments of all commands. saves: whether the command writes files like its inputs.
    has_json: whether it has --json."""
    parser.set_defaults(json=None, in_place=False)
    parser.set_defaults(jobs=None, report=None, resume=False, plan=False, merge=True)
    if saves:
        parser.add_argument(
            "--output",
            "-o",
            metavar="FILE|FOLDER",
            help="file to write, or a folder for files with the same names",
        )
        parser.add_argument(
            "--in-place", action="store_true", help="replace the inputs instead of --output"
        )
    if has_json:
        parser.add_argument(
            "--json",
            metavar="FILE|-",
            help="write a machine-readable report; -: to standard output, without other lines",
        )
    parser.add_argument(
        "--threads", type=int, default=0, metavar="N", help="0: OMP_NUM_THREADS, or all processors"
    )
    parser.add_argument("--quiet", "-q", action="store_true", help="print only errors")


def add_batch(parser: argparse.ArgumentParser, saves: bool = True, has_page: bool = False) -> None:
    """Adds the arguments of commands that process many files. has_page: whether --report can be a
    page."""
    group = parser.add_argument_group("many files")
    group.add_argument(
        "--jobs", type=int, metavar="N", help="process N files at a time, each in its own process"
    )
    group.add_argument(
        "--timeout",
        type=float,
        metavar="SECONDS",
        help="stop a file after this time, with --jobs and on a farm; 0: never (default: an "
        f"hour, or {SLOWER:g} times the expected time if that is longer)",
    )
    if saves or has_page:
        group.add_argument(
            "--report",
            metavar="PAGE.html|FOLDER" if has_page else "FOLDER",
            help=("write a page with numbers and pictures; a folder: " if has_page else "write ")
            + "a report for each file, and a table and a page for all files",
        )
    if not saves:
        return
    group.add_argument(
        "--resume",
        action="store_true",
        help="skip files that the reports already cover with the same input, options and output",
    )
    group.add_argument(
        "--plan", action="store_true", help="print the tasks as lines of JSON without running them"
    )
    group.add_argument(
        "--merge",
        action=BooleanOptionalAction,
        default=True,
        help="write the table and the page for the reports (default: on)",
    )


def check(arguments: argparse.Namespace, has_page: bool = False) -> None:
    """Raises WrongArguments for incompatible arguments. has_page: whether --report can be a
    page."""
    if arguments.threads < 0:
        raise WrongArguments(f"--threads is {arguments.threads}: must be 0 or more")
    if arguments.jobs is not None and arguments.jobs < 1:
        raise WrongArguments(f"--jobs is {arguments.jobs}: must be at least 1")
    timeout = getattr(arguments, "timeout", None)
    if timeout is not None and not 0 <= timeout < math.inf:
        raise WrongArguments(f"--timeout {timeout:g}: must be 0 or more seconds")
    if arguments.resume and not report_folder(arguments):
        raise WrongArguments(
            "--resume needs --report FOLDER, because the reports show what was done"
        )
    folder = report_folder(arguments)
    if arguments.report and not folder and not has_page:
        raise WrongArguments(f"--report {arguments.report}: must be a folder for this command")
    if folder and Path(folder).exists() and not Path(folder).is_dir():
        raise WrongArguments(f"--report {arguments.report}: not a folder")


def report_folder(arguments: argparse.Namespace) -> str | None:
    """The folder of --report, which may also be the name of a page."""
    path: str | None = arguments.report
    return None if path and Path(path).suffix.lower() in PAGES else path


def option_arguments(arguments: argparse.Namespace) -> list[str]:
    """The options that differ from their defaults, as command-line arguments."""
    found: list[str] = []
    for action in arguments.parser._actions:
        value = getattr(arguments, action.dest, None)
        if action.dest in APART or action.help == SUPPRESS:  # an older name of another option
            continue
        if value == getattr(action, "usual", action.default):
            continue
        if isinstance(action, BooleanOptionalAction):
            found.append(action.option_strings[0 if value else -1])
        elif action.nargs == 0:
            found.append(action.option_strings[0])
        else:
            for each in value if isinstance(value, list) else [value]:
                if str(action.metavar).startswith("FILE") and not str(each).startswith("//"):
                    each = placed(each)
                # The "=" allows a value to begin with a dash.
                found.append(f"{action.option_strings[0]}={each}")
    return found


def fingerprint(arguments: argparse.Namespace) -> str:
    """A hash of the version, the command and all options that affect the weights."""
    content = [engine.__version__, arguments.command, option_arguments(arguments)]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def report_path(folder: str | Path, output: str | Path) -> Path:
    """The report of a file, by the name of its output, or of its input if it has none."""
    return Path(folder, Path(output).name + ".json")


def make_task(
    source: str | Path,
    target: str | Path | None,
    arguments: argparse.Namespace,
    place: Callable[[str | Path], Any] = placed,
) -> Task:
    """Creates a task. place: returns the path that the task contains. Raises OSError if the input
    does not exist, and Refused if it is not a file."""
    refuse_input(placed(source))
    words = [arguments.command, str(place(source))]
    if arguments.in_place:
        words.append("--in-place")
    elif target is not None:
        words.append(f"--output={place(target)}")
    if report_folder(arguments):
        words += [f"--report={place(arguments.report)}", "--no-merge"]
        words += ["--resume"] * arguments.resume
    elif arguments.report:
        words.append(f"--report={place(arguments.report)}")
    if arguments.threads:
        words.append(f"--threads={arguments.threads}")
    words += option_arguments(arguments)
    seconds, memory = cost(source, getattr(arguments, "pose_count", POSES))
    timeout = arguments.timeout
    return {
        "program": getattr(arguments, "program", "blender"),
        "input": str(place(source)),
        "output": "" if target is None else str(place(target)),
        "seconds": round(seconds, 3),
        "bytes": int(memory),
        "timeout": max(TIMEOUT, round(SLOWER * seconds)) if timeout is None else timeout,
        "arguments": words,
    }


def cost(path: str | Path, poses: int = POSES) -> tuple[float, float]:
    """The approximate cost (seconds, bytes) of a file."""
    try:
        vertices, bones = (count_gltf if is_gltf(path) else count)(path)
    except Exception:  # opening the file will give the reason
        vertices, bones = os.path.getsize(path) // BYTES_OF_VERTEX, 50
    seconds = FILE_SECONDS + VERTEX_SECONDS * vertices * (poses + POSES) / (2 * POSES)
    return seconds, START_BYTES + vertices * (VERTEX_BYTES + BONE_BYTES * bones)


def count_gltf(path: str | Path) -> tuple[int, int]:
    """The number of vertices and the largest number of joints in a glTF file, from its JSON. Raises
    any exception for a file that is not sound."""
    found = read_head(path).json
    vertices = sum(
        found["accessors"][part["attributes"]["POSITION"]]["count"]
        for mesh in found["meshes"]
        for part in mesh["primitives"]
    )
    return vertices, max((len(skin["joints"]) for skin in found.get("skins", [])), default=50)


def named_files(arguments: argparse.Namespace) -> dict[str, str]:
    """The files to read that options name, {name: path}, with paths as given."""
    if arguments.command == WRITES_FILE:
        return {}
    named = {name: getattr(arguments, option, "") for name, option in READ_FILES.items()}
    return {name: path for name, path in named.items() if path and not os.path.isdir(path)}


def files_read(source: str | Path, arguments: argparse.Namespace) -> dict[str, str]:
    """All files from which an output is made, {name: path}, the input first, then those that glTF
    and USD files use, such as buffers, images and layers. A named path that begins with // is
    relative to the folder of the input. Raises Refused for a file that cannot be read."""
    found = {"input": str(source)}
    for name, path in named_files(arguments).items():
        found[name] = str(Path(source).parent / path[2:]) if path.startswith("//") else path
    for name, path in list(found.items()):
        with naming(path, source):
            if not (is_gltf(path) or is_usd(path)):
                continue
            document: Any = UsdDocument(path) if is_usd(path) else read_head(path)
        used = document.files().items()
        found |= {f"{uri} of the {name}": str(place) for uri, place in used}
    return found


def contents_read(source: str | Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """The content marks by which --resume recognizes the files from which an output was made."""
    return {name: content_mark(path) for name, path in files_read(source, arguments).items()}


def done_before(source: str | Path, target: str | Path, arguments: argparse.Namespace) -> bool:
    """Whether the output exists unchanged and was made from the current inputs with the same
    options. If the output has replaced the input, the input is not compared."""
    path = report_path(arguments.report, target)
    try:
        report = json.loads(read_input(path, MOST_BYTES).decode())
        (entry,) = report["files"]
        if "error" in entry or identity(entry["output"]) != identity(target):
            return False
        if report["fingerprint"] != fingerprint(arguments):
            return False
        marks = entry["contents"]
        files = {"output": target} | files_read(source, arguments)
        if identity(source) == identity(target):
            del files["input"]
        return all(has_content(path, marks[name]) for name, path in files.items())
    except (Refused, OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return False


def read_plan(path: str | Path) -> list[Task]:
    """Reads the tasks from a file that --plan has printed. Raises Refused for any other content."""
    try:
        text = read_input_text(path, MOST_BYTES)
    except Refused as reason:
        raise Refused(f"the plan cannot be read: {reason}") from None
    tasks = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("{"):  # Blender's own output may be in the file, too
            continue
        try:
            task = json.loads(line)
        except (ValueError, RecursionError):
            task = None
        if not _is_task(task):
            raise Refused(f"line {number} of the plan {path} is not a task")
        tasks.append(task)
    if not tasks:
        raise Refused(f"there is no task in the plan {path}")
    return tasks


def _is_task(task: Any) -> bool:
    """Whether this object has the form that make_task() produces, as far as other code relies on
    this form."""
    if not isinstance(task, dict):
        return False
    words = task.get("arguments")
    numbers = [task.get("seconds"), task.get("bytes"), task.get("timeout")]
    return (
        isinstance(words, list)
        and all(isinstance(word, str) for word in words)
        and words[:1] != []
        and re.fullmatch("[a-z][a-z-]*", words[0]) is not None
        and words[0] not in NO_TASKS
        and all(isinstance(task.get(name), str) for name in ("input", "output"))
        and task.get("program", "blender") in ("araplbs", "blender")
        and all(type(each) in (int, float) and 0 <= each < math.inf for each in numbers)
    )


def reason_of(error: Refused | OSError) -> str:
    """The reason why a file cannot be read, without its name."""
    if isinstance(error, FileNotFoundError):
        return "no such file"
    return str(error) if isinstance(error, Refused) else error.strerror or str(error)


def left_to_do(plan: Plan, arguments: argparse.Namespace) -> Plan:
    """The entries of a plan [(input, output)] that --resume does not skip."""
    if not arguments.resume:
        return plan
    return [each for each in plan if not done_before(*each, arguments)]


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
