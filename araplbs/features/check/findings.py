"""Defines the kinds of weight faults and a record of one fault with its location. This module does
not use bpy, so any thread may run it."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from ...character.problem import Problem
from .causes import CAUSES

# The identifier of each kind, its name, and its meaning for a rigger.
KINDS = (
    ("STRETCH", "Stretch", "The surface is torn apart when posed"),
    ("COLLAPSE", "Collapse", "The surface folds or loses its volume when posed"),
    (
        "BLEEDING",
        "Bleeding",
        "A bone moves skin across a gap, such as another finger, the other leg or the other lip",
    ),
    ("OVERREACH", "Overreach", "A limb moves skin that belongs to another limb"),
    ("DRIFT", "Drift", "A limb leaves its bone when posed"),
    ("BONE_OUTSIDE", "Bone Outside", "The bone is outside the part it moves"),
    ("IDLE_BONE", "Idle Bone", "A deform bone moves no vertex"),
    ("DEAF_BONE", "Weak Bone", "A bone hardly moves the skin around it"),
    ("UNWEIGHTED", "Unweighted", "Vertices without weights stay where they are"),
    ("UNNORMALIZED", "Not Normalized", "Weights do not sum to 1"),
    ("SPECKLE", "Speckle", "Single vertices have weights unlike those around them"),
    ("ASYMMETRY", "Asymmetry", "Weights differ from those of the other side"),
    ("INFLUENCES", "Too Many Influences", "A vertex has more influences than allowed"),
    ("LOOSE_PART", "Loose Part", "A separate part does not move with the surface it sits on"),
    ("DOUBTFUL_PART", "Doubtful Part", "Another bone fits a separate part about as well"),
    ("INTERSECTION", "Skin Through Cloth", "The skin beneath shows through when posed"),
    ("INNER_SHELL", "Inner Shell", "A hull hidden inside another part"),
    ("DOUBLE_SHELL", "Double Shell", "The surface exists twice, close together"),
    ("SPLIT_EDGES", "Split Edges", "Faces that meet share no vertices"),
    ("ISLANDS", "Islands", "Small parts float free of everything else"),
    ("NOISE", "Noise", "The surface is rough all over"),
)
# Mesh faults, which weights cannot repair.
OF_MESH = frozenset({"INNER_SHELL", "DOUBLE_SHELL", "SPLIT_EDGES", "ISLANDS", "NOISE"})


@dataclass
class Finding:
    """One fault at one location."""

    kind: str  # identifier in KINDS
    severity: float  # 0 to 1: from hardly visible to ruined; the sort key of findings
    mesh: int  # index in the names of the Problem
    bone: int = -1  # index in the names of the Skeleton, -1 for no bone
    vertices: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))  # of the mesh
    value: float = 0.0  # the measured value, in the unit of its kind
    words: str = ""  # one line for the user, with names and numbers
    pose: int = -1  # the worst of the examined poses; -1: present in every pose
    owner: int = -1  # the bone that the vertices belong to, of an OVERREACH
    other: int = -1  # another bone that may be meant, as `bone`


# Minimum severity of each level, the worst first.
LEVELS: Final = {"high": 0.66, "medium": 0.33, "low": 0.0}

NAMES: Final = {kind: name for kind, name, _about in KINDS}


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
            "other": names[finding.other] if finding.other >= 0 else None,
            "vertices": [int(vertex) for vertex in finding.vertices],
            "value": float(finding.value),
            "words": finding.words,
        }
        for finding in findings
    ]


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
            each["cause"] = CAUSES[each["kind"]]
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
        f"{found['level']}: {NAMES[found['kind']]}: {found['words']}"
        + (f". {found['cause']}" if "cause" in found else "")
        for found in report["findings"]
        if found.get("new", True)
    ]
    counts = in_words(report["health"])
    return "\n    ".join([*lines, f"{report['vertices']:,} vertices, findings: {counts}"])


def in_words(health: dict[str, int]) -> str:
    """The number of findings at each level."""
    return ", ".join(f"{count} {name}" for name, count in health.items())
