"""Finds the targets of the command-line commands, which operator modules declare as COMMAND."""

from collections.abc import Callable
from dataclasses import dataclass

from araplbs.blender import command
from araplbs.blender.command import WHICH as WHICH

from ..blender.read.targets import find_in_file, share_meshes


def find_written(arguments, view_layer):
    """The Targets of each armature whose weights are written."""
    return share_meshes(find_read(arguments, view_layer), view_layer)


def find_read(arguments, view_layer):
    """Does the same as find_written(), for commands that do not write shared data."""
    return find_in_file(view_layer, arguments.armature, arguments.mesh)


@dataclass(frozen=True)
class Command(command.Command):
    """See the base class. By default, the command writes weights."""

    find: Callable = find_written
