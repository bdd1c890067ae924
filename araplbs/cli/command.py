"""The building blocks of a shell command."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..base.option_table import OptionTable
from ..base.progress import Listener


@dataclass
class Job:
    """One input file of a run."""

    source: Path
    target: Path | None
    options: Any
    arguments: argparse.Namespace
    say: Callable[[str], None]
    progress: Listener

    def save(self, document: Any, write: Callable[[Any, Path], None]) -> None:
        """Writes the document to the output of the command."""
        assert self.target is not None
        write(document, self.target)
        self.say(f"{self.source}: saved {self.target}")


@dataclass
class Outcome:
    """The result for one file. characters: one report per character; code: the requested exit code;
    warnings: lines for the user."""

    characters: list[dict[str, Any]] = field(default_factory=list)
    code: int = 0
    pictures: list[bytes | None] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


@dataclass
class Done:
    """A finished file with its report entry, exit code and pictures."""

    result: dict[str, Any]
    code: int = 0
    pictures: list[bytes | None] = field(default_factory=list)


@dataclass(frozen=True)
class Command:
    """work: processes a Job and returns its Outcome. add: adds further arguments. check: validates
    the arguments before anything is read."""

    name: str
    help: str
    description: str
    examples: str
    table: type[OptionTable]
    work: Callable[[Job], Outcome]
    saves: bool = True
    also_reads: tuple[str, ...] = ()  # extensions of inputs that are not glTF files
    without: frozenset[str] = frozenset()
    only: frozenset[str] | None = None
    add: Callable[[argparse.ArgumentParser], None] | None = None
    check: Callable[[argparse.Namespace], None] | None = None
    defaults: Callable[[argparse.Namespace], dict[str, Any]] | None = None
    page: bool = True
