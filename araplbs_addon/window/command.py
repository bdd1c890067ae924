"""A command of the command line: an operator's file declares it as COMMAND, next to the operator.

arguments.py makes its parser, cli.py runs it on one file after the other."""

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from ..blender.read.targets import find_in_file, share_meshes

WHICH = (
    "those with its Armature modifier or parented to it. If the file has one armature and no "
    "mesh belongs to it, all visible meshes. The input stays unchanged, unless you give "
    "--in-place."
)


def find_written(arguments, view_layer):
    """The Targets of each armature, whose weights are written."""
    return share_meshes(find_read(arguments, view_layer), view_layer)


def find_read(arguments, view_layer):
    """The same where nothing is written that others share."""
    return find_in_file(view_layer, arguments.armature, arguments.mesh)


def add_source_and_targets(parser, has):
    """The arguments of a command that takes something from one mesh to others; has: what."""
    parser.add_argument("--source", metavar="NAME", required=True, help=f"mesh that has the {has}")
    parser.add_argument(
        "--target",
        metavar="NAME",
        action="append",
        required=True,
        help="mesh that gets them; repeatable",
    )


@dataclass(frozen=True)
class Command:
    name: str
    help: str
    description: str
    task: Callable  # (options, threads) -> Task
    table: type  # of its options
    summary: Callable[[dict], str]  # of a report, a line or more
    find: Callable = find_written  # (arguments, view layer) -> what each task reads
    subject: Callable = attrgetter("armature")  # of that: whose name is printed
    own: Callable | None = None  # adds its own arguments to a parser
    without: tuple[str, ...] = ()  # options that it does not take
    only: Any = None  # those that it takes, None for all
    choose: Callable | None = None  # (this Command, arguments) -> the Command that these mean
    finish: Callable | None = None  # of one that saves no .blend file: (arguments, results) -> code
    code_of: Callable | None = None  # of one that saves: the exit code, if no file has failed
    also_writes: Callable | None = None  # (arguments, names of armatures) -> [(path, kind)]
    conclude: Callable | None = None  # once all tasks of a file are applied: (tasks)
    weights_of: Callable[[dict], Any] = lambda _report: None  # the part of a report about weights
    has_pictures: bool = False
    has_presets: bool = False  # those of Auto-weight
    texts: tuple[tuple[str, str], ...] = ()  # (option, its help), where the panel's does not fit
    names_stages: bool = False  # its progress is a line for each stage

    @property
    def saves(self):
        """Whether it saves .blend files, and takes many of them."""
        return self.finish is None
