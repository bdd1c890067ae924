"""The input files of a run: names and patterns, which not every shell expands."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from pathlib import Path

from ..cli.errors import WrongArguments


def inputs_of(patterns: Sequence[str | Path]) -> list[Path]:
    """The files [Path] for these names and patterns, without duplicates. Raises WrongArguments for
    a pattern that matches nothing, and if none of the names is a file. If some files are missing,
    only these fail, and the others are processed."""
    found: dict[Path, None] = {}
    missing = []
    for pattern in map(str, patterns):
        names = [pattern]
        if not os.path.lexists(pattern) and glob.has_magic(pattern):
            names = sorted(glob.glob(pattern, recursive=True))
            if not names:
                raise WrongArguments(f"{pattern}: no file matches this pattern")
        for name in names:
            found[Path(name)] = None
            if os.path.isdir(name):
                missing.append(f"{name}: a folder, not a .blend file")
            elif not os.path.exists(name):
                missing.append(f"{name}: no such file")
    if len(missing) == len(found):
        raise WrongArguments("; ".join(missing))
    return list(found)
