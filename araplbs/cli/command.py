"""The building blocks of a shell command."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..base.option_table import OptionTable
from ..base.printed import complain
from ..base.progress import Listener
from ..base.refusal import naming
from ..disk.outputs import PICTURE, refuse_used, write_content
from ..gltf.file.container import (
    read_document,
    refuse_loss,
)
from ..usd.stage import UsdDocument, is_usd
from .errors import DONE
from .files import picture_path

if TYPE_CHECKING:
    from ..gltf.character import Character
    from ..model.options import Options
    from ..model.sparse_weights import SparseWeights


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
    sheets: list[Any] = field(default_factory=list)  # pixels of a picture of each character
    reports: list[dict[str, Any]] = field(default_factory=list)  # of each character
    code: int = DONE  # the exit code that the command requests

    def read(self, path: Path | None = None) -> Any:
        """Reads the input, or another file for it. Raises Refused if an output would replace a file
        that it uses, or if the output of the input would lose files."""
        source = self.source if path is None else path
        with naming(source, self.source):
            document: Any = UsdDocument(source) if is_usd(source) else read_document(source)
        if path is None and self.target is not None and not is_usd(source):
            refuse_loss(document, self.target)
        self.refuse_used(document)
        return document

    def refuse_used(self, document: Any) -> None:
        """Raises Refused if an output of the command would replace a file that a document uses."""
        used = list(document.files().values())
        self.used += map(str, used)
        refuse_used(used, [*([self.target] if self.target else []), *reports_of(self.arguments)])

    def characters(self, document: Any) -> list[Character]:
        """The characters of a document. Reports joints whose bind matrices are doubtful."""
        from ..gltf.character import characters_of  # loads NumPy

        if isinstance(document, UsdDocument):
            from ..usd.character import usd_characters

            characters: Any = usd_characters(document)
        else:
            characters = characters_of(document)
        for character in characters:
            for line in character.doubts:
                self.warnings.append(f"{character.name}: {line}")
                self.say(f"  {character.name}: warning: {line}")
        return characters

    def add(self, character: Character, report: dict[str, Any], lines: Iterable[str]) -> None:
        """Adds the report of a character, and prints lines about it."""
        self.reports.append(report)
        for line in lines:
            self.say(f"  {character.name}: {line}")

    @property
    def draws(self) -> bool:
        """Whether pictures of the characters are asked for."""
        return bool(getattr(self.arguments, "picture", None) or self.arguments.report)

    def draw(
        self,
        character: Character,
        options: Options,
        after: Sequence[SparseWeights] | None = None,
    ) -> None:
        """Draws the picture of a character, if it is asked for: its weights in the file, and those
        after the work."""
        if self.draws:
            from ..gltf.picture import character_sheet

            threads = self.arguments.threads
            sheet = character_sheet(character, options, after, None, threads, self.progress)
            self.sheets.append(sheet)

    def save(self, document: Any) -> None:
        """Writes the document to the output of the command."""
        assert self.target is not None
        document.save(self.target)
        plain = " without compression" if document.decompressed else ""
        self.say(f"{self.source}: saved {self.target}{plain}")


def on_each_character(
    change: Callable[[Job, Character], tuple[dict[str, Any], list[str]]],
) -> Callable[[Job], None]:
    """The work of a command that changes each character of a file. change: returns its report, and
    lines to print."""

    def work(job: Job) -> None:
        document = job.read()
        for character in job.characters(document):
            job.add(character, *change(job, character))
        job.save(document)

    return work


def reports_of(arguments: argparse.Namespace) -> list[str]:
    """The reports that a run writes into files."""
    named = (arguments.json, arguments.report, getattr(arguments, "save_parts", None))
    return [path for path in named if path and path != "-"]


def add_pictures(job: Job, done: Done) -> None:
    """Writes the picture of a file, with all its characters, and keeps those of its page."""
    sheets = [sheet for sheet in job.sheets if sheet is not None]
    arguments = job.arguments
    if arguments.report:
        done.pictures = [None if sheet is None else png_of([sheet]) for sheet in job.sheets]
    if getattr(arguments, "picture", None) and not sheets:
        job.warnings.append("no picture was drawn, because there is no surface")
        complain(f"araplbs: {job.source}: warning: {job.warnings[-1]}")
    elif getattr(arguments, "picture", None):
        path = picture_path(job.source, arguments.picture)
        refuse_used(job.used, [path])
        write_content(path, PICTURE, png_of(sheets))
        done.result["picture"] = str(path)
        job.say(f"{job.source}: saved {path}")


def png_of(sheets: Sequence[Any]) -> bytes:
    """A PNG file with sheets of several characters, one below another."""
    import numpy as np

    from ..reports.pictures import png

    width = max(sheet.shape[1] for sheet in sheets)
    parts = [np.pad(s, ((0, 0), (0, width - s.shape[1]), (0, 0)), mode="edge") for s in sheets]
    return png(np.concatenate(parts), PICTURE.generator)


@dataclass
class Done:
    """A finished file with its report entry, exit code, pictures and the files that it uses."""

    result: dict[str, Any]
    code: int = 0
    pictures: list[bytes | None] = field(default_factory=list)
    used: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Command:
    """work: processes a Job and adds its reports. add: adds further arguments. check: validates
    the arguments before anything is read."""

    name: str
    description: str
    examples: str
    table: type[OptionTable]
    work: Callable[[Job], None]
    saves: bool = True
    also_reads: tuple[str, ...] = ()  # extensions of inputs that are not glTF files
    without: frozenset[str] = frozenset()
    only: frozenset[str] | None = None
    add: Callable[[argparse.ArgumentParser], None] | None = None
    check: Callable[[argparse.Namespace], None] | None = None
    draws: bool = False  # whether it has --picture
    defaults: Callable[[argparse.Namespace], dict[str, Any]] | None = None
    page: bool = False  # whether --report can be a page
