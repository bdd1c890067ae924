"""See `python -m araplbs.replay --help`."""

import re
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

from . import Solver

FORMAT: str
LEFT_OUT: set[str]
WANTED: dict[str, int]
WEIGHTS: str
MARK: re.Pattern[bytes]
MOST_LETTERS: int
MOST_LINES: int

class NoProblem(ValueError): ...

def save(
    path: str | PathLike[str], arguments: Mapping[str, Any], about: Mapping[str, Any] | None = None
) -> None: ...
def load(path: str | PathLike[str]) -> tuple[dict[str, Any], dict[str, Any]]: ...
def solve(arguments: Mapping[str, Any], threads: int = 0) -> tuple[Solver, float]: ...
def printable(text: object) -> str: ...
def refuse_output(path: str | PathLike[str], source: str | PathLike[str]) -> None: ...
def write_weights(
    path: str | PathLike[str], source: str | PathLike[str], rows: Sequence[Any]
) -> None: ...
def main(argv: Sequence[str] | None = None) -> int: ...
