"""The description of a command that processes .blend files. The add-on's file for an operator
declares the command as COMMAND, next to the operator. The parser of the command is created by
arguments.py, and files.py runs the command on each file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from ..base.option_table import OptionTable

WHICH = (
    "those with its Armature modifier or parented to it, or all visible meshes if the file has "
    "one armature and no mesh belongs to it. The input stays unchanged unless --in-place is "
    "given."
)


@dataclass(frozen=True)
class Command:
    name: str
    help: str
    description: str
    task: Callable[..., Any]  # (options, threads) -> Task
    table: type[OptionTable]
    summary: Callable[[dict[str, Any]], str]  # of a report, one or more lines
    find: Callable[..., Any]  # (arguments, view layer) -> the input of each task
    subject: Callable[[Any], Any] = attrgetter("armature")  # of an input: the name to print
    own: Callable[..., None] | None = None  # adds its own arguments to a parser
    without: tuple[str, ...] = ()  # options that the command does not accept
    only: Any = None  # options that the command accepts, None for all
    choose: Callable[..., Any] | None = None  # (this Command, arguments) -> the Command to run
    finish: Callable[..., int] | None = None  # exit code if no .blend is saved
    code_of: Callable[..., int] | None = None  # of a saving command: the code if no file failed
    also_writes: Callable[..., Any] | None = None  # (arguments, armatures) -> [(path, kind)]
    conclude: Callable[[list[Any]], None] | None = None  # after applying all tasks of a file
    weights_of: Callable[[dict[str, Any]], Any] = lambda _report: None  # the section on weights
    has_pictures: bool = False
    has_presets: bool = False  # the presets of Auto-weight
    texts: tuple[tuple[str, str], ...] = ()  # (option, its help) if the panel's text does not fit
    names_stages: bool = False  # reports its progress as one line for each stage

    @property
    def saves(self) -> bool:
        """Whether the command saves .blend files and accepts several of them."""
        return self.finish is None
