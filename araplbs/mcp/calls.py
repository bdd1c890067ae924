"""The calls of the server's tools. Each call runs a command in a separate process and returns what
an assistant needs of the command's report.

A separate process keeps the server responsive, and ends with the call: if the call is cancelled or
takes too long, and if the server ends for any reason (child.py). Only files on this machine are
accepted, and the command's rules for outputs apply.
"""

from __future__ import annotations

import importlib.util
import itertools
import json
import os
import re
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..base import child
from ..base.refusal import Refused
from ..cli.batch.tasks import TIMEOUT
from ..cli.errors import DONE, FAILED, FINDINGS
from ..cli.main import PROGRESS
from ..gltf.file.container import is_gltf
from ..usd.stage import is_usd

Value = str | int | float | bool | list[str]
LINES = 20  # of a command's error messages
MOST_BYTES = 4000  # of an answer; an assistant pays for each
MOST_KEYS = 24  # of a report; only tables of bones have more
LEFT_OUT = ("generator", "schema", "version", "options", "poses", "parts", "engine")
WEIGHED = {  # entries of a report of weight
    *("armature", "objects", "vertices", "control_bones", "deforming_bones", "most_influences"),
    *("deformation", "compared", "kept", "misfit", "limb_shifts", "notes", "warnings", "seconds"),
}
SEEN = ("surface_strain", "limb_drift", "volume_change")  # of the measures of a comparison
OF_GLTF = "araplbs"  # the module of the command for .glb, .gltf, .vrm and USD files
NUMBERS = itertools.count(1)
OTHER_PLACE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:(//|\\\\)|\\\\|//")
NO_TEXT = re.compile("[\0\ufffd\ud800-\udfff]")  # also what server.py puts for half a character
NO_WORD = re.compile("[\0\ud800-\udfff]")  # no process can be given it
GOOD = (DONE, FINDINGS)  # exit codes of calls that did not fail


@dataclass(frozen=True)
class Limits:
    """timeout: seconds after which a call is ended, 0 for none. check: called repeatedly, raises an
    exception to end the call. on_line: called with each line of the command's messages. folder: for
    the whole reports."""

    timeout: float = TIMEOUT
    check: Callable[[], object] = lambda: None
    on_line: Callable[[str], object] = lambda _line: None
    folder: str = "."


class _TimedOut(Exception):
    pass


def call(
    command: str,
    source: str,
    words: Sequence[str] = (),
    options: Mapping[str, Value] = {},
    limits: Limits = Limits(),
    target: str = "",
    picture: str = "",
) -> dict[str, Any]:
    """Runs a command on a file. target: its output, for compare a folder. picture: the file of
    --picture. Returns {"exit_code", "messages"}, and the entries of its report, shortened.
    "details" is the path of the whole report. Raises Refused."""
    if picture:
        _refuse_folder(picture, not Path(picture).suffix)
    for name in filter(NO_WORD.search, words):
        raise Refused(f"{name!r} is not an option of the tool")
    drawn = ["--picture", picture] if picture else []
    module = _module(_local(source))
    if command not in ("check", "compare"):  # a folder is accepted, but who knows the file's name?
        _refuse_folder(target, target.endswith(("/", os.sep)))
    to = ["--output", target] if target or command != "check" else []
    details = Path(limits.folder, f"{next(NUMBERS)}-{command}.json")
    whole = [module, command, source, *to, *words, *drawn, *_flags(options), "--quiet"]
    if command != "compare":  # which writes a report into its folder
        whole += ["--json", str(details)]
    if module == OF_GLTF:
        whole.append("--progress")
    end, earlier = time.monotonic() + limits.timeout, _version(picture)

    def check() -> None:
        limits.check()
        if limits.timeout and time.monotonic() >= end:
            raise _TimedOut

    try:
        code, _said, errors = child.run(whole, check, on_line=limits.on_line)
    except _TimedOut:
        line = f"stopped after {limits.timeout:g} s (--timeout of the server)"
        return {"exit_code": FAILED, "messages": [line]}
    lines = [line for line in errors.splitlines() if line.strip() and not line.startswith(PROGRESS)]
    messages = [line.removeprefix("araplbs: ") for line in lines]
    if code < 0:  # the system may have ended it, which says nothing
        messages.append(f"the command ended with {signal.Signals(-code).name}")
    answer: dict[str, Any] = {"exit_code": code, "messages": messages[-LINES:]}
    if command == "compare" and not code:
        answer["page"], details = str(Path(target, "index.html")), Path(target, "report.json")
    if drawn and _version(picture) != earlier:
        answer["picture"] = picture
    return answer | _report(details)


def _version(path: str) -> tuple[int, int] | None:
    """A key of the file that is at a path now; None without one."""
    if not os.path.isfile(path):
        return None
    found = os.stat(path)
    return found.st_ino, found.st_mtime_ns


def _report(path: Path) -> dict[str, Any]:
    """The entries of a written report that an assistant reads first, and the path of the whole."""
    if not path.is_file():
        return {}
    content = json.loads(path.read_text("utf-8"))
    return {"details": str(path), **_brief(content)}


def _refuse_folder(target: str, is_named_so: bool) -> None:
    if is_named_so or os.path.isdir(_local(target)):
        raise Refused(f"{target}: is a folder; specify the file to write")


def repeated(flag: str, values: Sequence[str]) -> list[str]:
    """The words of an argument with several values."""
    return [f"--{flag}={value}" for value in values]


def _brief(content: dict[str, Any]) -> dict[str, Any]:
    """A report without what is only for programs, and with counts instead of vertices."""
    found = {name: value for name, value in content.items() if name not in LEFT_OUT}
    for result in [*found.get("files", []), found]:
        for report in result.get("characters") or result.get("armatures") or ():
            for finding in [*report.get("findings", []), *report.get("repairs", [])]:
                if isinstance(finding.get("vertices"), list):
                    finding["vertices"] = len(finding["vertices"])
            for method in report.get("methods", ()):
                measures = method.pop("measures", {}).get("random", {})
                method |= {name: measures.get(name) for name in SEEN}
            is_weight = content.get("command") == "weight"
            for name in report.keys() - WEIGHED if is_weight else LEFT_OUT:
                report.pop(name, None)
    return found


def as_text(answer: dict[str, Any]) -> str:
    """The answer as JSON of at most MOST_BYTES. Long lists and texts are shortened as far as
    necessary, and say how many entries are missing."""
    for most, letters in ((10, 300), (10, 160), (5, 160), (3, 120), (1, 80), (0, 40)):
        text = json.dumps(_shortened(answer, most, letters), ensure_ascii=False)
        if len(text.encode("utf-8", "replace")) <= MOST_BYTES:
            break
    return text


def _shortened(value: Any, most: int, letters: int, name: str = "") -> Any:
    if isinstance(value, str):
        kept = name in ("details", "page", "picture", "output") or len(value) <= letters
        return value if kept else value[: letters - 3] + "..."
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, dict):
        many = len(value) > MOST_KEYS  # named after bones
        keys = list(value)[: most if many else None]
        found = {key: _shortened(value[key], most, letters, key) for key in keys}
        return found | ({"...": f"{len(value) - len(keys)} more"} if len(keys) < len(value) else {})
    if isinstance(value, list):
        kept_most = max(most, 1) if name in ("files", "characters", "messages") else most
        items = [_shortened(each, most, letters) for each in value[:kept_most]]
        left = len(value) - len(items)
        return items + ([f"{left} more"] if left else [])
    return value


def _module(source: str) -> str:
    """The module whose commands process a file."""
    if is_gltf(source) or is_usd(source):
        return OF_GLTF
    if not source.lower().endswith(".blend"):
        raise Refused(f"{source}: must be a .glb, .gltf, .vrm, USD or .blend file")
    if importlib.util.find_spec("bpy") is None:
        raise Refused(
            f"{source}: .blend files need Blender as a Python module: pip install bpy, or run "
            f"blender -c araplbs weight {os.path.basename(source)} in a shell"
        )
    return "araplbs.blender"


def _local(path: str) -> str:
    """A path on this machine. Raises Refused for an address on another machine."""
    if not path.strip() or path.startswith(("-", "~/")) or NO_TEXT.search(path):
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
        else:  # any text may be the name of a file to read
            values = value if isinstance(value, list) else [value]
            words += [f"--{plain}={_local(v) if isinstance(v, str) else v}" for v in values]
    return words


# Options of the command that name files, or that are arguments of the tools.
RESERVED = frozenset(
    (
        *("output", "o", "in-place", "json", "report", "picture", "progress", "quiet", "q"),
        *("jobs", "resume", "plan", "help"),
    )
)
