"""The tools of the server. Each tool runs a command in a separate process and returns the command's
JSON output.

A separate process keeps the server responsive, ends with the call, and leaves nothing behind. Only
files on this machine are accepted, and the command's rules for outputs apply.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..base.refusal import Refused
from ..gltf.file.container import is_gltf

Value = str | int | float | bool
LINES = 20  # of a command's error messages
OTHER_PLACE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:(//|\\\\)|\\\\|//")


def weigh(source: str, target: str, options: Mapping[str, Value]) -> dict[str, Any]:
    """Runs weight SOURCE -o TARGET."""
    return run("weight", source, _output(target), options)


def check(source: str, fail_on: str, options: Mapping[str, Value]) -> dict[str, Any]:
    """Runs check SOURCE; "findings_as_severe" states whether there is a finding at or above the
    level."""
    answer = run("check", source, ["--fail-on", fail_on], options)
    return answer | {"findings_as_severe": answer["exit_code"] == 3}


def repair(
    source: str, target: str, kinds: Sequence[str], options: Mapping[str, Value]
) -> dict[str, Any]:
    """Runs repair SOURCE -o TARGET --kind KIND."""
    only = [word for kind in kinds for word in ("--kind", kind.lower())]
    return run("repair", source, [*_output(target), *only], options)


def compare(source: str, folder: str, methods: Sequence[str]) -> dict[str, Any]:
    """Runs compare SOURCE -o FOLDER; "page" is the path of the page."""
    only = [word for name in methods for word in ("--method", name)]
    answer = run("compare", source, ["--output", _local(folder), *only], {})
    page, figures = Path(folder, "index.html"), Path(folder, "report.json")
    if answer["exit_code"]:
        return answer
    return answer | {"page": str(page), "report": json.loads(figures.read_text("utf-8"))}


def run(
    command: str, source: str, words: Sequence[str], options: Mapping[str, Value]
) -> dict[str, Any]:
    """Returns {"exit_code", "messages", and the output of --json}."""
    program = _program(_local(source))
    json_of = [] if command == "compare" else ["--json", "-"]
    whole = [*program, command, source, *words, *json_of, "--quiet", *_flags(options)]
    done = subprocess.run(
        whole, stdin=subprocess.DEVNULL, capture_output=True, text=True, encoding="utf-8"
    )
    lines = [line.removeprefix("araplbs: ") for line in done.stderr.splitlines() if line.strip()]
    answer: dict[str, Any] = {"exit_code": done.returncode, "messages": lines[-LINES:]}
    if json_of and done.stdout.strip():
        answer |= json.loads(done.stdout)
    return answer


def _program(source: str) -> list[str]:
    """The command line that processes a file. The flag -P is necessary because the current
    directory may contain an unrelated folder named araplbs."""
    if is_gltf(source):
        return [sys.executable, "-P", "-m", "araplbs"]
    if not source.lower().endswith(".blend"):
        raise Refused(f"{source}: must be a .glb, .gltf, .vrm or .blend file")
    if importlib.util.find_spec("bpy") is None:
        raise Refused(
            f"{source}: .blend files need Blender as a Python module: pip install bpy, or run "
            f"blender -c araplbs weight {os.path.basename(source)} in a shell"
        )
    return [sys.executable, "-P", "-m", "araplbs.blender"]


def _output(target: str) -> list[str]:
    return ["--output", _local(target)]


def _local(path: str) -> str:
    """A path on this machine. Raises Refused for an address on another machine."""
    if not path.strip() or path.startswith("-") or "\0" in path:
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
        if isinstance(value, bool):
            words.append(f"--{'' if value else 'no-'}{plain}")
        else:
            words.append(f"--{plain}={value}")
    return words


# Options of the command that name files, or that are arguments of the tools.
RESERVED = frozenset(
    ("output", "o", "in-place", "json", "report", "quiet", "q", "jobs", "resume", "plan", "help")
)
