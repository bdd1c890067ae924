"""Makes the report of a repair, and formats the lines that describe it and the rows
of the list of findings after it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...reports.report import names_in_line
from ..check.findings import Finding, as_json
from ..check.kinds import KIND_OF, OF_MESH
from .repair import Outcome

if TYPE_CHECKING:
    from ...base.option_table import OptionTable
    from ...character.problem import Problem
    from .repair import Repaired

EVERY_KIND = frozenset(KIND_OF) - OF_MESH  # that can be repaired


def repair_report(
    armature: str,
    problem: Problem,
    repaired: Repaired,
    written: list[dict[str, Any]],
    started: float,
    options: OptionTable,
) -> dict[str, Any]:
    """The report of a repair. written: the part about each mesh; started: time.perf_counter() when
    the work began."""
    outcomes = repaired.outcomes
    found = as_json([each.finding for each in outcomes], problem)
    return {
        "armature": armature,
        "objects": written,
        "repairs": [
            {
                **finding,
                "result": outcome.result,
                "severity_now": round(float(outcome.severity), 3),
                "why": outcome.words,
            }
            for outcome, finding in zip(outcomes, found, strict=True)
        ],
        "findings": as_json(repaired.findings, problem),
        "seconds": time.perf_counter() - started,
        "options": options.as_dict(),
    }


def repair_summary(report: dict[str, Any]) -> str:
    """A one-line summary for the user."""
    results = [each["result"] for each in report["repairs"]]
    if not results:
        return "No findings to repair"
    which = "1 finding" if len(results) == 1 else f"{len(results)} findings"
    if not any(each["changed"] for each in report.get("objects", [report])):
        return f"Nothing to repair: no better weights were found for {which}"
    words = {"REPAIRED": "repaired", "BETTER": "better", "UNCHANGED": "as before"}
    parts = [f"{results.count(key)} {word}" for key, word in words.items() if key in results]
    return f"{which}: {', '.join(parts)} in {report['seconds']:.1f} s"


def repair_lines(report: dict[str, Any]) -> str:
    """The lines of repair_notes(), followed by the line of repair_summary()."""
    return "\n    ".join([*repair_notes(report), repair_summary(report)])


def repair_notes(report: dict[str, Any]) -> list[str]:
    """Lines about findings with unchanged weights, with the reasons."""
    reasons: dict[str, list[str]] = {}
    for each in report["repairs"]:
        if each["why"]:
            place = f"{KIND_OF[each['kind']].name} {each['bone'] or each['mesh']}"
            reasons.setdefault(each["why"], []).append(place)
    return [f"{why}: {names_in_line(places)}" for why, places in reasons.items()]


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
