"""Summarizes the outcome of a comparison in one line."""

from typing import Any

from ...measures.deformation import in_percent
from .judge import RANDOM
from .methods import REFERENCE


def methods_compared(report: dict[str, Any]) -> str:
    """ "15 methods", or "14 of 15 methods" if one could not run."""
    methods = report["methods"]
    done = sum(method["reason"] is None for method in methods)
    every = "1 method" if len(methods) == 1 else f"{len(methods)} methods"
    return every if done == len(methods) else f"{done} of {every}"


def compare_summary(report: dict[str, Any]) -> str:
    """The summary line for the dictionary of a Comparison."""
    done = [m for m in report["methods"] if m["reason"] is None]
    which = methods_compared(report)
    line = f"{report['vertices']:,} vertices, {which} compared in {report['seconds']:.1f} s"
    judged = [m for m in done if m["kind"] != REFERENCE]
    known = [m for m in judged if m["measures"][RANDOM]["surface_strain"] is not None]
    if known:
        best = min(known, key=lambda method: method["measures"][RANDOM]["surface_strain"])
        strain = in_percent(best["measures"][RANDOM]["surface_strain"])
        line += f", least Stretch: {best['name']}, {strain}"
    return line
