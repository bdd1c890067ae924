"""The building blocks of a shell command."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..base.option_table import OptionTable
from ..base.progress import Listener
from ..disk.outputs import refuse_used
from ..gltf.file.container import (
    Document,
    files_of,
    read_document,
    refuse_loss,
    save_document,
)

if TYPE_CHECKING:
    from ..gltf.character import Character


@dataclass
class Job:
    """One input file of a run."""

    source: Path
    target: Path | None
    options: Any
    arguments: argparse.Namespace
    say: Callable[[str], None]
    progress: Listener
    warnings: list[str] = field(default_factory=list)
    used: list[str] = field(default_factory=list)  # separate files of the documents
    others: list[Job] = field(default_factory=list)  # further files, processed with this one

    def read(self, path: Path | None = None) -> Document:
        """Reads the input, or another file for it. Raises Refused if an output would replace a file
        that it uses, or if the output of the input would lose files."""
        document = read_document(self.source if path is None else path)
        if path is None and self.target is not None:
            refuse_loss(document, self.target)
        self.refuse_used(document)
        return document

    def refuse_used(self, document: Document) -> None:
        """Raises Refused if an output of the command would replace a file that a document uses."""
        used = list(files_of(document).values())
        self.used += map(str, used)
        refuse_used(used, [*([self.target] if self.target else []), *reports_of(self.arguments)])

    def characters(self, document: Document) -> list[Character]:
        """The characters of a document. Reports joints whose bind matrices are doubtful."""
        from ..gltf.character import characters_of  # loads NumPy

        found = characters_of(document)
        for character in found:
            for line in character.doubts:
                self.warnings.append(f"{character.name}: {line}")
                self.say(f"  {character.name}: warning: {line}")
        return found

    def save(self, document: Document) -> None:
        """Writes the document to the output of the command."""
        assert self.target is not None
        save_document(document, self.target)
        self.say(f"{self.source}: saved {self.target}")


def reports_of(arguments: argparse.Namespace) -> list[str]:
    """The reports that a run writes into files."""
    others = (getattr(arguments, name, None) for name in ("report", "save_parts"))
    named = (arguments.json, *others)
    return [path for path in named if path and path != "-"]


@dataclass
class Outcome:
    """The result for one file. characters: one report per character; code: the requested exit
    code."""

    characters: list[dict[str, Any]] = field(default_factory=list)
    code: int = 0
    pictures: list[bytes | None] = field(default_factory=list)


@dataclass
class Done:
    """A finished file with its report entry, exit code, pictures and the files that it uses."""

    result: dict[str, Any]
    code: int = 0
    pictures: list[bytes | None] = field(default_factory=list)
    used: list[str] = field(default_factory=list)


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
