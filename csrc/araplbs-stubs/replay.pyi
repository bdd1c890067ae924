"""See `python -m araplbs.replay --help`."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

from . import Solver

FORMAT: str
LEFT_OUT: set[str]

class NoProblem(ValueError): ...

def save(
    path: str | PathLike[str], arguments: Mapping[str, Any], about: Mapping[str, Any] | None = None
) -> None: ...
def load(path: str | PathLike[str]) -> tuple[dict[str, Any], dict[str, Any]]: ...
def solve(arguments: Mapping[str, Any], threads: int = 0) -> tuple[Solver, float]: ...
def main(argv: Sequence[str] | None = None) -> int: ...
