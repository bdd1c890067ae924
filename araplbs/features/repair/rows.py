"""Creates the rows of the list of findings after a repair: the remaining findings and the repaired
ones. This module does not use bpy, so any thread may run it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ..check.findings import Finding
from .repair import Outcome


def is_same(one: Finding, other: Finding) -> bool:
    """Whether two findings describe the same fault at the same place."""
    if (one.kind, one.mesh) != (other.kind, other.mesh):
        return False
    if not len(one.vertices) or not len(other.vertices):
        return one.bone == other.bone
    return bool(np.isin(one.vertices, other.vertices).any())


def outcomes_of(findings: Sequence[Finding], outcomes: Sequence[Outcome]) -> list[Outcome | None]:
    """For each remaining finding, the Outcome of the repair that left it."""
    return [
        next((each for each in outcomes if is_same(each.finding, finding)), None)
        for finding in findings
    ]


def gone(findings: Sequence[Finding], before: Iterable[Finding]) -> list[Finding]:
    """The earlier findings that no longer exist. A repair may also remove findings nearby."""
    return [one for one in before if not any(is_same(one, other) for other in findings)]
