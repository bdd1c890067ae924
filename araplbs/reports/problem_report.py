"""Creates the text of *Report a Problem*, which lists versions, system, settings, sizes and recent
errors. The text contains no names from the file and no user folders.

Names in a file are removed in every form in which our messages and Python write them. Our messages
also quote unknown names, such as the names of deleted objects. Everything from the first remaining
quote to the last one is removed, because a name may contain quotes. Removing too much text is
better than leaving a name in it.
"""

import os
import platform
import re
import sys
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

import numpy as np

from ..base.engine import load
from ..base.faults import Fault, last_errors, names_of_file
from ..base.refusal import Refused
from ..model.options import Options

TITLE = "Auto-weight (ARAP): report of a problem"
WISH = (
    "What did you do, and what did you expect? Please write it here, review the rest, and send "
    "it to the maintainers. Nothing was sent automatically."
)
MOST_LETTERS = 400  # of an error
UNKNOWN = "an error without details: the names in the file are unknown"


def system_lines() -> list[str]:
    """Facts about the machine and the module, which is loaded for this purpose."""
    try:
        module = load()
        engine = (
            f"{module.__version__}, {module.linear_algebra}, "
            f"SIMD {getattr(module, 'simd', 'unknown')}"
        )
    except Refused as reason:
        engine = without_names(str(reason))
    return [
        f"Module: {engine}",
        f"System: {platform.system()} {platform.release()}, {platform.machine()}",
        f"Processors: {os.cpu_count()}",
        f"Python: {sys.version.split()[0]}, NumPy {np.__version__}",
    ]


def settings_lines(options: Options) -> list[str]:
    """Settings that differ from their defaults. Text values are replaced by dots."""
    defaults, lines = Options().as_dict(), []
    texts = {each.name for each in fields(Options) if isinstance(each.default, str)}
    texts -= {each.name for each in fields(Options) if "choices" in each.metadata}
    for name, value in options.as_dict().items():
        if value != defaults[name]:
            lines.append(f"{name}: {DOTS if name in texts else value}")
    return lines or ["all at their defaults"]


def error_line(fault: Fault) -> str:
    """The text of an error, without names."""
    if fault.names is None:
        return UNKNOWN
    text = without_names(fault.text, [*fault.names, *(names_of_file() or ())])
    places = [without_folder(place, fault.names) for place in fault.places.splitlines() if place]
    return "\n".join([" ".join(text.split())[:MOST_LETTERS], *places])


def without_folder(place: str, names: Iterable[str]) -> str:
    """The line of a traceback that names a source file, reduced to the last part of the path. If
    this part is a name from the .blend file, such as the name of a script in it, it is also
    removed."""
    path, comma, rest = place.strip().partition(", line ")
    name = re.split(r"[\\/]", path)[-1]
    return f"  {DOTS}/{without_names(name, names)}{comma}{without_names(rest, names)}"


def report_text(blender: list[str], sizes: list[str], options: Options, file: str) -> str:
    """The text of the report. blender: lines about Blender; file: text about the problem file, or
    the reason why this file is missing."""
    errors = [error_line(each) for each in last_errors()] or ["none since Blender was started"]
    parts: list[tuple[str, Any]] = [
        ("System", [*blender, *system_lines()]),
        ("Settings", settings_lines(options)),
        ("Sizes", sizes),
        ("Last errors", errors),
        ("Problem file", [file]),
    ]
    lines = [TITLE, "", WISH, ""]
    for name, content in parts:
        lines += [name, *(f"  {line}" for each in content for line in each.splitlines()), ""]
    return "\n".join(lines)


DOTS = "..."
SHORT = 4  # letters: shorter names match only as whole words; otherwise, no sentence would be left
_HERE = "\ue000"  # placeholder for a name while others are still to be found
_PATH = re.compile(r"(?:\b[A-Za-z]:|(?<![\w.]))[\\/]+(?:[^\\/:\n\"']+[\\/])+[^\\/:\n\"',;)]*")
_HIDDEN = f"'{DOTS}'"
_OPENING, _CLOSING = re.compile(r"(?<!\w)[\"'`]"), re.compile(r"[\"'`](?!\w)")


def without_names(text: str, names: Iterable[str] = ()) -> str:
    """The text with dots in place of names and paths. names: the names in the file."""
    forms = {form for name in names for form in _forms(name)}
    for form in sorted(forms, key=len, reverse=True):
        if form not in text:
            continue
        if len(form) >= SHORT:
            text = text.replace(form, _HERE)
        else:
            text = re.sub(rf"(?<!\w){re.escape(form)}(?!\w)", _HERE, text)
    text = _PATH.sub(DOTS, text.replace(_HERE, DOTS))
    return _HIDDEN.join(_without_quoted(part) for part in _apart(text))


def _apart(text: str) -> list[str]:
    """The text between names that are already hidden. The text between two hidden names may be the
    middle of a name with quotes, and is then also hidden."""
    return re.split(rf"[\"']{re.escape(DOTS)}[\"']", text)


def _without_quoted(text: str) -> str:
    opening = _OPENING.search(text)
    if not opening:
        return text
    ends = [match.end() for match in _CLOSING.finditer(text, opening.end())]
    end = ends[-1] if ends else len(text)  # a text may be cut off within a name
    return text[: opening.start()] + _HIDDEN + text[end:]


def _forms(name: str) -> set[str]:
    """The forms of a name: unchanged, on one line, as shown by Python, and as bytes."""
    forms = {name, " ".join(name.split()), repr(name)[1:-1], ascii(name)[1:-1]}
    forms |= {repr(name)[1:-1].replace("\\'", "'"), *name.splitlines()}
    forms.add(name.encode("utf-8", "backslashreplace").decode())
    return {form for form in forms if any(map(str.isalnum, form))}
