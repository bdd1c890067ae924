"""Defines the arguments of individual commands that exist in both command lines, `araplbs` and
`blender -c araplbs`.

A feature is loaded only for its own command, because startup takes most of the time for a small
file.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping

from ..features.check.findings import LEVELS
from .errors import DONE, FINDINGS


def add_fail_on(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--fail-on",
        choices=(*LEVELS, "never"),
        default="high",
        metavar="LEVEL",
        help="return exit code 3 if a finding is at least this severe: high, medium, low or "
        "never (default: high)",
    )


def code_of_findings(
    arguments: argparse.Namespace, reports: Iterable[Mapping[str, Mapping[str, int]]]
) -> int:
    """The exit code that --fail-on requests for these character reports. With a baseline, only new
    findings count."""
    if arguments.fail_on == "never":
        return DONE
    levels = list(LEVELS)
    counted = levels[: levels.index(arguments.fail_on) + 1]
    counts = [report.get("health_new", report["health"]) for report in reports]
    found = any(each[level] for each in counts for level in counted)
    return FINDINGS if found else DONE


def _repaired() -> list[str]:
    from ..features.check.kinds import KINDS
    from ..features.repair.report import EVERY_KIND

    return [kind.id.lower() for kind in KINDS if kind.id in EVERY_KIND]


def add_kinds(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--kind",
        action="append",
        choices=_repaired(),
        metavar="KIND",
        help=f"use only findings of this kind; repeatable: {', '.join(_repaired())}",
    )


def kinds_of(arguments: argparse.Namespace) -> frozenset[str]:
    """The kinds of findings given with --kind, by default all kinds that can be repaired."""
    return frozenset(kind.upper() for kind in arguments.kind or _repaired())


def add_methods(parser: argparse.ArgumentParser) -> None:
    from ..features.compare.methods import METHODS

    names = ", ".join(method.identifier.lower().replace("_", "-") for method in METHODS)
    parser.add_argument(
        "--method",
        action="append",
        metavar="NAME",
        help=f"use only this method; repeatable: {names}",
    )


def add_sources_and_targets(
    parser: argparse.ArgumentParser,
    what: str = "a mesh",
    data: str = "weights",
    several: bool = True,
) -> None:
    """Adds the arguments of a command that transfers this data from some meshes to others. several:
    whether there can be more than one source."""
    for name, verb, repeats in (("source", "provides", several), ("target", "receives", True)):
        parser.add_argument(
            f"--{name}",
            action="append" if repeats else "store",
            required=True,
            metavar="NAME",
            help=f"{what} that {verb} the {data}{'; repeatable' if repeats else ''}",
        )
