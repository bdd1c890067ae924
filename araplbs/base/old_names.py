"""The names that options and arguments had before version 0.3. These names work for one more
version, with a warning. Files saved by any version can be read without a warning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from warnings import warn

OPTIONS = {
    "truss": "bone_spring_stiffness",
    "least_worth": "min_gain",
    "widenings": "expansion_rounds",
    "kept_sum": "prune_sum",
    "relative": "prune_ratio",
    "least_length": "min_length",
}
# Arguments of araplbs.Solver in problem files.
ARGUMENTS = {
    **{old: OPTIONS[old] for old in ("truss", "least_worth", "widenings", "least_length")},
    "least_weight": "min_weight",
    "support": "pruning",
}


def present(values: Mapping[str, Any], names: Mapping[str, str] = OPTIONS) -> dict[str, Any]:
    """The values under their current names. If a value is given under both names, the current one
    takes precedence."""
    renamed = {names[name]: value for name, value in values.items() if name in names}
    return renamed | {name: value for name, value in values.items() if name not in names}


def present_with_warning(values: Mapping[str, Any], level: int = 4) -> dict[str, Any]:
    for name in values:
        if name in OPTIONS:
            warn(f"{name} is now {OPTIONS[name]}", DeprecationWarning, stacklevel=level)
    return present(values)


def old_flags(name: str) -> list[str]:
    """The old flags of an option on the command line."""
    return ["--" + old.replace("_", "-") for old, new in OPTIONS.items() if new == name]
