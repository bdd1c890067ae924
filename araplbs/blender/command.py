"""A command on .blend files: an operator's file in the add-on declares it as COMMAND, next to the
operator. arguments.py makes its parser, files.py runs it on one file after the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from ..base.option_table import OptionTable

WHICH = (
    "those with its Armature modifier or parented to it. If the file has one armature and no "
    "mesh belongs to it, all visible meshes. The input stays unchanged, unless you give "
    "--in-place."
)


@dataclass(frozen=True)
class Command:
    name: str
    help: str
    description: str
    task: Callable[..., Any]  # (options, threads) -> Task
    table: type[OptionTable]
    summary: Callable[[dict[str, Any]], str]  # of a report, a line or more
    find: Callable[..., Any]  # (arguments, view layer) -> what each task reads
    subject: Callable[[Any], Any] = attrgetter("armature")  # of that: whose name is printed
    own: Callable[..., None] | None = None  # adds its own arguments to a parser
    without: tuple[str, ...] = ()  # options that it does not take
    only: Any = None  # those that it takes, None for all
    choose: Callable[..., Any] | None = None  # (this Command, arguments) -> the Command meant
    finish: Callable[..., int] | None = None  # of one that saves no .blend file: its exit code
    code_of: Callable[..., int] | None = None  # of one that saves: the code, if no file has failed
    also_writes: Callable[..., Any] | None = None  # (arguments, armatures) -> [(path, kind)]
    conclude: Callable[[list[Any]], None] | None = None  # once all tasks of a file are applied
    weights_of: Callable[[dict[str, Any]], Any] = lambda _report: None  # the part about weights
    has_pictures: bool = False
    has_presets: bool = False  # the presets of Auto-weight
    texts: tuple[tuple[str, str], ...] = ()  # (option, its help) if the panel's does not fit
    names_stages: bool = False  # its progress is a line for each stage

    @property
    def saves(self) -> bool:
        """Whether it saves .blend files, and takes many of them."""
        return self.finish is None
