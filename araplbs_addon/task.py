"""The common part of all work on an armature and its meshes: reading, solving, writing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from araplbs.base.option_table import OptionTable
from araplbs.base.progress import Listener
from araplbs.base.steps import Steps, finish

if TYPE_CHECKING:
    import bpy

MEASURING = "measuring"  # the stage after solving, of work that reports its gains


class Task(ABC):
    """The main thread reads and applies, any thread may solve.

    Until apply() nothing in Blender's data is changed. reading: the data that was read, frozen;
    None before. warnings: for people.
    """

    reading: Any = None
    options: Any
    warnings: list[str]

    def __init__(self, options: OptionTable, threads: int = 0) -> None:
        self.options, self.threads, self.warnings = options, threads, []

    def read(self, targets: Any, view_layer: bpy.types.ViewLayer) -> None:
        """Raises Refused if there is nothing to do, or it cannot be done."""
        finish(self.read_in_steps(targets, view_layer))

    @abstractmethod
    def read_in_steps(self, targets: Any, view_layer: bpy.types.ViewLayer) -> Steps[None]:
        """read() as a generator of short steps; sets `reading`."""

    @abstractmethod
    def solve(self, progress: Listener | None = None) -> None:
        """Keeps the solution. Raises araplbs.Cancelled when progress (a Listener) stops it."""

    @abstractmethod
    def apply(self) -> dict[str, Any]:
        """Writes what was solved, all of it or nothing; the report. Raises Refused if the
        objects are not what they were."""
