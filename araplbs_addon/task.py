"""Defines the base class of all tasks that read an armature and its meshes, solve, and write the
result."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from araplbs.base.option_table import OptionTable
from araplbs.base.progress import Listener
from araplbs.base.steps import Steps, finish
from bpy.types import Object, ViewLayer

from .blender.data.references import Reference

MEASURING = "measuring"  # the stage after solving, in tasks that report their gains


class Task(ABC):
    """A unit of work: the main thread reads and applies, and any thread may solve.

    Until apply(), Blender's data stays unchanged. reading: the data that was read, frozen, with its
    Subjects; None before reading. warnings: messages for the user.
    """

    reading: Any = None
    options: Any
    warnings: list[str]

    def __init__(self, options: OptionTable, threads: int = 0) -> None:
        self.options, self.threads, self.warnings = options, threads, []

    @property
    def armature(self) -> Reference:
        return self.reading.subjects.armature

    @property
    def objects(self) -> Sequence[Reference]:
        return self.reading.subjects.meshes if self.reading else ()

    def find_objects(self) -> tuple[Object, list[Object]]:
        """Returns (armature, [meshes]). Raises Refused if one of the objects has changed."""
        return self.reading.subjects.find()

    def read(self, targets: Any, view_layer: ViewLayer, progress: Listener | None = None) -> None:
        """Reads the data. Raises Refused if there is nothing to do, or if the work cannot be done,
        and araplbs.Cancelled when progress (a Listener) stops it."""
        finish(self.read_in_steps(targets, view_layer), progress)

    @abstractmethod
    def read_in_steps(self, targets: Any, view_layer: ViewLayer) -> Steps[None]:
        """Does the same as read(), as a generator of short steps. Sets `reading`."""

    @abstractmethod
    def solve(self, progress: Listener | None = None) -> None:
        """Stores the solution. Raises araplbs.Cancelled when progress (a Listener) stops it."""

    @abstractmethod
    def apply(self) -> dict[str, Any]:
        """Writes the solution completely or not at all. Returns the report. Raises Refused if the
        objects have changed."""
