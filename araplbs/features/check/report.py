"""Makes the report of a check, and formats the lines that describe it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from ...character.problem import Problem
from .findings import LEVELS, Finding, as_json, health
from .kinds import KIND_OF


def mark_new(
    report: dict[str, Any], before: dict[str, Any] | None, comparable: Collection[str]
) -> None:
    """Sets `new` in each finding of a report, with the usual `cause` of new ones, and adds
    `health_new`, the number of new findings at each level.

    A finding is known if the report `before` has one of its kind, at least as severe in level, in
    the same mesh, at the same bone or at a common vertex. comparable: the meshes whose vertices are
    the same in both reports.
    """
    earlier = before["findings"] if before else []
    for each in report["findings"]:
        each["new"] = not any(_known(each, old, comparable) for old in earlier)
        if each["new"]:
            each["cause"] = KIND_OF[each["kind"]].cause
    new = [each["level"] for each in report["findings"] if each["new"]]
    report["health_new"] = {name: new.count(name) for name in LEVELS}


def _known(found: dict[str, Any], old: dict[str, Any], comparable: Collection[str]) -> bool:
    levels = list(LEVELS)
    if any(found[key] != old[key] for key in ("kind", "mesh")):
        return False
    if levels.index(old["level"]) > levels.index(found["level"]):
        return False
    if found["bone"] is not None and found["bone"] == old["bone"]:
        return True
    if not found["vertices"]:
        return found["bone"] == old["bone"]
    same = found["mesh"] in comparable
    return same and not set(found["vertices"]).isdisjoint(old["vertices"])


def check_report(
    armature: str,
    problem: Problem,
    findings: Sequence[Finding],
    seconds: float,
    options: dict[str, Any],
) -> dict[str, Any]:
    """The report of a check. options: the options that the check used."""
    return {
        "armature": armature,
        "objects": list(problem.names),
        "vertices": sum(problem.sizes),
        "health": health(findings),
        "findings": as_json(findings, problem),
        "seconds": seconds,
        "options": options,
    }


def check_summary(report: dict[str, Any]) -> str:
    """Lines for the user, the worst first, or only new findings if the report distinguishes them.
    The last line gives the counts."""
    lines = [
        f"{found['level']}: {KIND_OF[found['kind']].name}: {found['words']}"
        + (f". {found['cause']}" if "cause" in found else "")
        for found in report["findings"]
        if found.get("new", True)
    ]
    counts = in_words(report["health"])
    return "\n    ".join([*lines, f"{report['vertices']:,} vertices, findings: {counts}"])


def in_words(health: dict[str, int]) -> str:
    """The number of findings at each level."""
    return ", ".join(f"{count} {name}" for name, count in health.items())
