"""The text of *Report a Problem*: versions, system, settings, sizes and the last errors. Names of
the file's things and folders of the user are left out."""

import os
import platform
import re
import sys
from typing import Any

import numpy as np

from ..base import native_module
from ..base.faults import last_errors
from ..base.refusal import Refused
from ..character.options import Options

TITLE = "Auto-weight (ARAP): report of a problem"
WISH = (
    "What did you do, and what did you expect? Please write it here, look through the rest, and "
    "send it to the maintainers. Nothing was sent by itself."
)
_QUOTED = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"")
_FOLDER = re.compile(r"(?:[A-Za-z]:)?[\\/](?:[^\\/:\n\"']+[\\/])+")


def without_names(text: str) -> str:
    """What is in quotes, as names are in our sentences, and the folders of paths become dots."""
    return _QUOTED.sub("'...'", _FOLDER.sub(".../", text))


def system_lines() -> list[str]:
    """Of the machine and the module; the module is loaded for it."""
    try:
        module = native_module.load()
        engine = (
            f"{module.__version__}, {native_module.linear_algebra()}, "
            f"SIMD {getattr(module, 'simd', 'unknown')}"
        )
    except Refused as reason:
        engine = without_names(str(reason))
    return [
        f"Extension: {native_module.version() or 'not installed as one'}",
        f"Module: {engine}",
        f"System: {platform.system()} {platform.release()}, {platform.machine()}",
        f"Processors: {os.cpu_count()}",
        f"Python: {sys.version.split()[0]}, NumPy {np.__version__}",
    ]


def settings_lines(options: Options) -> list[str]:
    """Those that are not as they are by default."""
    usual = Options().as_dict()
    changed = {k: v for k, v in options.as_dict().items() if v != usual[k]}
    return [f"{k}: {without_names(str(v))}" for k, v in changed.items()] or ["all as by default"]


def report_text(blender: list[str], sizes: list[str], options: Options, file: str) -> str:
    """blender: lines about it; file: about the problem file, or why it is missing."""
    errors = [without_names(line) for line in last_errors()] or ["none since Blender was started"]
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
