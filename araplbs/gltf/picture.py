"""Draws the sheet of a character in a file, before and after a change or by several methods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..base.arrays import Array
from ..base.progress import Listener
from ..features.check.sheet import checked_sheet
from ..features.compare.compare import Comparison
from ..model.options import Options
from ..model.sparse_weights import SparseWeights
from ..reports.sheet import Shown, sheet
from .character import Character
from .check import problem_as_it_is


def character_sheet(
    character: Character,
    options: Options,
    after: Sequence[SparseWeights] | None = None,
    before: Sequence[SparseWeights] | None = None,
    threads: int = 0,
    progress: Listener | None = None,
) -> Array | None:
    """The pixels of the sheet (see checked_sheet()). after: the SparseWeights of each mesh; None
    for those in the file alone. before: those to compare with, by default those in the file,
    if it has any."""
    plain = replace(options, rigid_parts="OFF")
    shown = [*(after or ()), *(before or ())]
    problem, rows = problem_as_it_is(character, plain, threads, also=shown)
    sets = [("", rows)]
    if after is not None:
        earlier = rows if before is None else problem.join(before)
        sets = [("before", earlier), ("after", problem.join(after))]
        if not len(earlier.bones):
            sets = [("", sets[1][1])]
    path = character.document.path.name
    title = f"{path}: {character.name}, {sum(problem.sizes):,} vertices"
    return checked_sheet(title, problem, sets, options, None, threads, progress)


def comparison_sheet(
    comparison: Comparison, title: str, threads: int = 0, progress: Listener | None = None
) -> Array | None:
    """The pixels of the sheet of the weights by all methods, one set below another."""
    first, rest = comparison.in_order
    sets = [Shown(each.name, each.rows) for each in (*first, *rest) if each.rows is not None]
    own = comparison.options
    options = Options(max_influences=own.max_influences, seed=own.seed)
    return sheet(title, comparison.case.problem, sets, options, None, threads, progress)
