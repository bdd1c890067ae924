"""Tasks: one file each, with all that a Blender anywhere needs to weight it.

A task is a dictionary that JSON takes:
  input, output   absolute paths
  arguments       what follows `blender -c araplbs`
  seconds, bytes  what it will cost, about: processor time and memory
"""

import hashlib
import json
import os
from argparse import BooleanOptionalAction
from pathlib import Path

from ..core.blend_file import count
from ..core.files import identity, placed
from ..core.native_module import version
from ..core.refusal import Refused

# What does not change the weights.
APART = ("help", "input", "output", "json", "threads", "jobs", "resume", "report", "plan", "merge")

# Measured with one thread and 80 poses (docs/farm.md): seconds and bytes of a process that has
# opened no file, and what a file, a vertex and a vertex for each bone add.
FILE_SECONDS, VERTEX_SECONDS = 0.3, 1.6e-4
START_BYTES, VERTEX_BYTES, BONE_BYTES = 270e6, 4e3, 35
POSES = 80
BYTES_OF_VERTEX = 60  # of a file that cannot be looked into


# What commands have in place of these arguments that are for one file after the other only.
NO_BATCH = {"jobs": None, "report": None, "resume": False, "plan": False}


def add_arguments(parser):
    group = parser.add_argument_group("many files")
    group.add_argument("--jobs", type=int, metavar="N", help="N processes of Blender")
    group.add_argument(
        "--report", metavar="FOLDER", help="a report for each file, and of all a table and a page"
    )
    group.add_argument(
        "--resume",
        action="store_true",
        help="leave out files whose output is newer and, by the reports, made with these options",
    )
    group.add_argument(
        "--plan", action="store_true", help="print the tasks as lines of JSON, and do nothing"
    )
    group.add_argument(
        "--merge",
        action=BooleanOptionalAction,
        default=True,
        help="write the table and the page of the reports (default: on)",
    )


def check(arguments):
    """Raises Refused for arguments that do not go together."""
    if arguments.jobs is not None and arguments.jobs < 1:
        raise Refused(f"--jobs {arguments.jobs}: must be at least 1")
    if arguments.jobs is not None and os.name == "nt":
        raise Refused(f"--jobs {arguments.jobs}: not on Windows yet, where processes do not answer")
    if arguments.resume and not arguments.report:
        raise Refused("--resume needs --report FOLDER: the reports say how an output was made")
    if arguments.report and Path(arguments.report).exists() and not Path(arguments.report).is_dir():
        raise Refused(f"--report {arguments.report}: not a folder")


def option_arguments(arguments):
    """The options that differ from their defaults, as arguments of the command line."""
    found = []
    for action in arguments.parser._actions:
        value = getattr(arguments, action.dest, None)
        if action.dest in APART or value == action.default:
            continue
        if isinstance(action, BooleanOptionalAction):
            found.append(action.option_strings[0 if value else -1])
        elif action.nargs == 0:
            found.append(action.option_strings[0])
        else:
            for each in value if isinstance(value, list) else [value]:
                if action.metavar == "FILE" and not str(each).startswith("//"):
                    each = placed(each)
                # With "=", so that a value may begin with a dash.
                found.append(f"{action.option_strings[0]}={each}")
    return found


def fingerprint(arguments):
    """A hash of all that decides about the weights, but the input."""
    content = [version(), arguments.command, option_arguments(arguments)]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def report_path(folder, output):
    return Path(folder, Path(output).name + ".json")


def make_task(source, target, arguments, threads=None):
    """Raises OSError when there is no such input."""
    source, target = placed(source), placed(target)
    os.stat(source)
    words = [arguments.command, str(source), f"--output={target}"]
    if arguments.report:
        words += [f"--report={placed(arguments.report)}", "--no-merge"]
        words += ["--resume"] * arguments.resume
    threads = arguments.threads or threads
    if threads:
        words.append(f"--threads={threads}")
    words += option_arguments(arguments)
    seconds, memory = cost(source, getattr(arguments, "pose_count", POSES))
    return {
        "input": str(source),
        "output": str(target),
        "seconds": round(seconds, 3),
        "bytes": int(memory),
        "arguments": words,
    }


def cost(path, poses=POSES):
    """(seconds, bytes) of a file, about."""
    try:
        vertices, bones = count(path)
    except Exception:  # it will be told when it is opened
        vertices, bones = os.path.getsize(path) / BYTES_OF_VERTEX, 50
    seconds = FILE_SECONDS + VERTEX_SECONDS * vertices * (poses + POSES) / (2 * POSES)
    return seconds, START_BYTES + vertices * (VERTEX_BYTES + BONE_BYTES * bones)


def done_before(source, target, arguments):
    """Whether the output is newer than the input and was made with the same options. Where one is
    the other, whether it is as the command has left it."""
    try:
        report = json.loads(report_path(arguments.report, target).read_text(encoding="utf-8"))
        (entry,) = report["files"]
        written, read = os.stat(target), os.stat(source)
        if "error" in entry or identity(entry["output"]) != identity(target):
            return False
        if report["fingerprint"] != fingerprint(arguments):
            return False
        tets = getattr(arguments, "tet_file", "")
        if tets and not tets.startswith("//") and os.stat(tets).st_mtime_ns >= written.st_mtime_ns:
            return False
        if identity(source) == identity(target):
            return entry["written"] == written.st_mtime_ns
        return written.st_mtime_ns > read.st_mtime_ns
    except (OSError, ValueError, KeyError, TypeError):
        return False


def read_plan(path):
    """The tasks of a file that --plan has printed. Raises Refused for what is none."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Refused(f"the plan {path} cannot be read: {error}") from None
    tasks = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("{"):  # Blender may have printed there, too
            continue
        try:
            task = json.loads(line)
            words = task["arguments"]
            good = isinstance(words, list) and all(isinstance(word, str) for word in words)
            float(task["seconds"]), int(task["bytes"]), str(task["input"]), str(task["output"])
        except (ValueError, KeyError, TypeError):
            good = False
        if not good:
            raise Refused(f"line {number} of the plan {path} is no task")
        tasks.append(task)
    if not tasks:
        raise Refused(f"there is no task in the plan {path}")
    return tasks
