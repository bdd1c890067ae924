"""The targets of commands of the command line, which operators' files declare as COMMAND."""

from collections.abc import Callable
from dataclasses import dataclass

from araplbs.blender import command
from araplbs.blender.command import WHICH as WHICH

from ..blender.read.targets import find_in_file, share_meshes


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
class Command(command.Command):
    """See there; by default one that writes weights."""

    find: Callable = find_written
