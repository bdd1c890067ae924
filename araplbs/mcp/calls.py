"""The tools of the server. Each tool runs a command in a separate process and returns the command's
JSON output.

A separate process keeps the server responsive, and ends with the call: if the call is cancelled or
takes too long, and if the server ends for any reason (child.py). Only files on this machine are
accepted, and the command's rules for outputs apply.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..base import child
from ..base.refusal import Refused
from ..cli.batch.tasks import TIMEOUT
from ..cli.errors import DONE, FAILED, FINDINGS
from ..gltf.file.container import is_gltf

Value = str | int | float | bool
LINES = 20  # of a command's error messages
OTHER_PLACE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:(//|\\\\)|\\\\|//")
NO_TEXT = re.compile("[\0\ufffd\ud800-\udfff]")  # also what server.py puts for half a character
GOOD = (DONE, FINDINGS)  # exit codes of calls that did not fail


@dataclass(frozen=True)
class Limits:
    """timeout: seconds after which a call is ended, 0 for none. check: called repeatedly, raises an
    exception to end the call."""

    timeout: float = TIMEOUT
    check: Callable[[], object] = lambda: None


class _TimedOut(Exception):
    pass


def weigh(
    source: str,
    target: str,
    options: Mapping[str, Value],
    limits: Limits = Limits(),
    *,
    part: Mapping[str, Sequence[str]] = {},
) -> dict[str, Any]:
    """Runs weight SOURCE -o TARGET. part: {option that keeps some of the weights: its values}."""
    only = [f"--{name}={each}" for name, values in part.items() for each in values]
    return run("weight", source, [*_output(target), *only], options, limits)


def check(
    source: str, fail_on: str, options: Mapping[str, Value], limits: Limits = Limits()
) -> dict[str, Any]:
    """Runs check SOURCE; "findings_as_severe" states whether there is a finding at or above the
    level."""
    answer = run("check", source, ["--fail-on", fail_on], options, limits)
    return answer | {"findings_as_severe": answer["exit_code"] == FINDINGS}


def repair(
    source: str,
    target: str,
    kinds: Sequence[str],
    options: Mapping[str, Value],
    limits: Limits = Limits(),
) -> dict[str, Any]:
    """Runs repair SOURCE -o TARGET --kind KIND."""
    only = [word for kind in kinds for word in ("--kind", kind.lower())]
    return run("repair", source, [*_output(target), *only], options, limits)


def compare(
    source: str, folder: str, methods: Sequence[str], limits: Limits = Limits()
) -> dict[str, Any]:
    """Runs compare SOURCE -o FOLDER; "page" is the path of the page."""
    only = [word for name in methods for word in ("--method", name)]
    answer = run("compare", source, ["--output", _local(folder), *only], {}, limits)
    page, figures = Path(folder, "index.html"), Path(folder, "report.json")
    if answer["exit_code"]:
        return answer
    return answer | {"page": str(page), "report": json.loads(figures.read_text("utf-8"))}


def run(
    command: str,
    source: str,
    words: Sequence[str],
    options: Mapping[str, Value],
    limits: Limits,
) -> dict[str, Any]:
    """Returns {"exit_code", "messages", and the output of --json}."""
    module = _module(_local(source))
    json_of = [] if command == "compare" else ["--json", "-"]
    whole = [module, command, source, *words, *json_of, "--quiet", *_flags(options)]
    end = time.monotonic() + limits.timeout

    def check() -> None:
        limits.check()
        if limits.timeout and time.monotonic() >= end:
            raise _TimedOut

    try:
        code, output, errors = child.run(whole, check)
    except _TimedOut:
        line = f"stopped after {limits.timeout:g} s (--timeout of the server)"
        return {"exit_code": FAILED, "messages": [line]}
    lines = [line.removeprefix("araplbs: ") for line in errors.splitlines() if line.strip()]
    answer: dict[str, Any] = {"exit_code": code, "messages": lines[-LINES:]}
    if json_of and output.strip():
        answer |= json.loads(output)
    return answer


def _module(source: str) -> str:
    """The module whose commands process a file."""
    if is_gltf(source):
        return "araplbs"
    if not source.lower().endswith(".blend"):
        raise Refused(f"{source}: must be a .glb, .gltf, .vrm or .blend file")
    if importlib.util.find_spec("bpy") is None:
        raise Refused(
            f"{source}: .blend files need Blender as a Python module: pip install bpy, or run "
            f"blender -c araplbs weight {os.path.basename(source)} in a shell"
        )
    return "araplbs.blender"


def _output(target: str) -> list[str]:
    """The output file. The commands also accept a folder, but nobody would know the file's name."""
    if os.path.isdir(_local(target)) or target.endswith(("/", os.sep)):
        raise Refused(f"{target}: is a folder; specify the file to write")
    return ["--output", target]


def _local(path: str) -> str:
    """A path on this machine. Raises Refused for an address on another machine."""
    if not path.strip() or path.startswith("-") or NO_TEXT.search(path):
        raise Refused(f"{path!r} is not a file path")
    if OTHER_PLACE.match(path):
        raise Refused(f"{path}: only files on this machine can be read or written")
    return path


def _flags(options: Mapping[str, Value]) -> list[str]:
    """Converts {"max_influences": 8, "symmetric": False} to --max-influences=8 --no-symmetric.
    Raises Refused for a name that is not an option, and for an option that names a file."""
    words = []
    for name, value in options.items():
        plain = name.lower().strip().lstrip("-").replace("_", "-").replace(" ", "-")
        if not re.fullmatch(r"[a-z][a-z-]*", plain) or plain in RESERVED:
            raise Refused(f"{name!r} is not an option of the tool")
        if plain in ("skeleton", "from"):
            value = _local(str(value))  # files to read
        if isinstance(value, bool):
            words.append(f"--{'' if value else 'no-'}{plain}")
        else:
            words.append(f"--{plain}={value}")
    return words


# Options of the command that name files, or that are arguments of the tools.
RESERVED = frozenset(
    ("output", "o", "in-place", "json", "report", "quiet", "q", "jobs", "resume", "plan", "help")
)
