"""Names and patterns of input files, which not every shell expands."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable

from .errors import WrongArguments


def expanded(patterns: Iterable[str]) -> list[str]:
    """The names that these names and patterns stand for, without duplicates. A name of something
    that exists is not a pattern, even a broken link. Raises WrongArguments for a pattern that
    matches nothing; the caller decides about names that are not files."""
    found: dict[str, None] = {}
    for pattern in patterns:
        names = [pattern]
        if not os.path.lexists(pattern) and glob.has_magic(pattern):
            names = sorted(glob.glob(pattern, recursive=True))
            if not names:
                raise WrongArguments(f"{pattern}: no file matches this pattern")
        found |= dict.fromkeys(names)
    return list(found)
