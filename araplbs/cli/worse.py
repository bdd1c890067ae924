"""Arguments for files that already have weights. --if-worse determines what a command does if its
new weights are worse than the weights in the file. --only-new keeps the weights in the file."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from ..base.refusal import Refused
from .errors import DONE, FINDINGS

REPORT, FAIL, KEEP = "report", "fail", "keep"


def add_if_worse(parser: argparse.ArgumentParser) -> None:
    """Adds the argument."""
    parser.add_argument(
        "--if-worse",
        choices=(REPORT, FAIL, KEEP),
        default=REPORT,
        metavar="WHAT",
        help="what to do if the surface stretches more than with the earlier weights: report "
        f"it, fail with exit code 3, or keep the earlier weights (default: {REPORT})",
    )


def add_only_new(parser: argparse.ArgumentParser) -> None:
    """Adds the argument."""
    parser.add_argument(
        "--only-new",
        action="store_true",
        help="weight only vertices without weights and leave all others unchanged; if there are "
        "none, the output is the same as the input",
    )


def refuse_with_only_new(arguments: argparse.Namespace) -> None:
    """Raises Refused for arguments that have no effect together with --only-new."""
    for name, default in (("if_worse", REPORT), ("volume", "none"), ("start_from", "fresh")):
        value = getattr(arguments, name)
        if value != default:
            flag = name.replace("_", "-")
            raise Refused(f"--only-new and --{flag} {value} cannot be used together")


def is_worse(report: dict[str, Any]) -> bool:
    """Whether a character report states that the new weights are worse."""
    return bool(report.get("compared", {}).get("worse"))


def code_if_worse(arguments: argparse.Namespace, results: Sequence[dict[str, Any]]) -> int:
    """The exit code for these report entries."""
    if arguments.if_worse != FAIL:
        return DONE
    reports = [report for each in results for report in each.get("armatures", ())]
    return FINDINGS if any(map(is_worse, reports)) else DONE
