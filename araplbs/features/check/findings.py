"""A record of one fault of weights with its location. This module does not use bpy, so any thread
may run it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from ...character.problem import Problem


@dataclass
class Finding:
    """One fault at one location."""

    kind: str  # identifier of a Kind
    severity: float  # 0 to 1: from hardly visible to ruined; the sort key of findings
    mesh: int  # index in the names of the Problem
    bone: int = -1  # index in the names of the Skeleton, -1 for no bone
    vertices: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))  # of the mesh
    value: float = 0.0  # the measured value, in the unit of its kind
    words: str = ""  # one line for the user, with names and numbers
    pose: int = -1  # the worst of the examined poses; -1: present in every pose
    others: tuple[int, ...] = ()  # bones that the vertices belong to or fit instead, as `bone`
    pair: int = -1  # equal for mirrored parts about which the same choice can be made


# Minimum severity of each level, the worst first.
LEVELS: Final = {"high": 0.66, "medium": 0.33, "low": 0.0}


def level(severity: float) -> str:
    """The level of a severity, as named in LEVELS."""
    return next(name for name, least in LEVELS.items() if severity >= least)


def health(findings: Iterable[Finding]) -> dict[str, int]:
    """The number of findings at each level, {level: count}, for all LEVELS."""
    found = [level(finding.severity) for finding in findings]
    return {name: found.count(name) for name in LEVELS}


def counted(findings: Sequence[Finding]) -> str:
    """The counts as text, such as '7 findings: 2 high, 3 medium, 2 low'."""
    if not findings:
        return "No findings"
    counts = health(findings)
    levels = (f"{counts['high']} high", f"{counts['medium']} medium", f"{counts['low']} low")
    parts = [part for part in levels if not part.startswith("0 ")]
    which = "1 finding" if len(findings) == 1 else f"{len(findings)} findings"
    return f"{which}: {', '.join(parts)}"


def as_json(findings: Iterable[Finding], problem: Problem) -> list[dict[str, Any]]:
    """Converts findings about a Problem to plain data."""
    names = problem.skeleton.names
    return [
        {
            "kind": finding.kind,
            "level": level(finding.severity),
            "severity": round(float(finding.severity), 3),
            "mesh": problem.names[finding.mesh],
            "bone": names[finding.bone] if finding.bone >= 0 else None,
            "others": [names[bone] for bone in finding.others],
            "vertices": [int(vertex) for vertex in finding.vertices],
            "value": float(finding.value),
            "words": finding.words,
        }
        for finding in findings
    ]
