"""Expands the patterns of input files, because not every shell does so."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable

from .errors import WrongArguments


def expanded(patterns: Iterable[str]) -> list[str]:
    """The names that these names and patterns stand for, without duplicates. The name of an
    existing file, folder or link is not treated as a pattern, even if the link is broken. Raises
    WrongArguments for a pattern that matches nothing. The caller decides about names that are not
    files."""
    found: dict[str, None] = {}
    for pattern in patterns:
        names = [pattern]
        if not os.path.lexists(pattern) and glob.has_magic(pattern):
            names = sorted(glob.glob(pattern, recursive=True))
            if not names:
                raise WrongArguments(f"{pattern}: no file matches this pattern")
        found |= dict.fromkeys(names)
    return list(found)
