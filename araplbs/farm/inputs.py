"""Finds the input files of a run on .blend files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ..cli.errors import WrongArguments
from ..cli.patterns import expanded


def inputs_of(patterns: Sequence[str | Path]) -> list[Path]:
    """The files [Path] for these names and patterns, without duplicates. Raises WrongArguments for
    a pattern that matches nothing, and if none of the names is a file. If only some files are
    missing, these fail later, and the others are processed."""
    names = expanded(map(str, patterns))
    missing = []
    for name in names:
        if os.path.isdir(name):
            missing.append(f"{name}: a folder, not a .blend file")
        elif not os.path.exists(name):
            missing.append(f"{name}: no such file")
    if len(missing) == len(names):
        raise WrongArguments("; ".join(missing))
    return list(dict.fromkeys(map(Path, names)))
