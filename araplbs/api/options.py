"""Converts keyword arguments to Options. A keyword is the option's name in the panel or in the
settings."""

from __future__ import annotations

import difflib
from collections.abc import Container, Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from ..base.option_table import given_value
from ..base.refusal import Refused
from ..disk.presets import preset_named
from ..model.options import Options

# Options for data that arrays cannot contain.
WITHOUT = frozenset(("volume", "tet_file", "tet_space", "use_joint_limits", "through_rig"))


def names_of(without: Container[str] = WITHOUT) -> dict[str, str]:
    """Map each keyword to a field of Options."""
    found: dict[str, str] = {}
    for option in fields(Options):
        about = option.metadata
        if option.name in without or "name" not in about:
            continue
        found[option.name] = option.name
        if not about.get("paper"):
            found["_".join(about["name"].lower().split())] = option.name
    return found


def options_of(
    given: Mapping[str, Any],
    defaults: dict[str, Any] | None = None,
    without: Container[str] = WITHOUT,
    preset: str | None = None,
) -> Options:
    """Build the Options from keyword arguments, which take precedence over the preset. Raises
    TypeError for an unknown name and ValueError for a value out of range or an unknown preset."""
    known, values = names_of(without), dict(defaults or {})
    if preset is not None:
        try:
            values |= {k: v for k, v in preset_named(preset).items() if k in known}
        except Refused as error:
            raise ValueError(f"preset is {preset!r}: {error}") from None
    kinds = {option.name: option for option in fields(Options)}
    for name, value in given.items():
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f": did you mean {near[0]!r}?" if near else ""
            raise TypeError(f"unexpected keyword argument {name!r}{hint}")
        values[known[name]] = _value(name, value, kinds[known[name]])
    return Options(**values)


def _value(name: str, value: Any, option: Any) -> Any:
    default, about = option.default, option.metadata
    if "choices" in about:
        return given_value(option, value.lower() if isinstance(value, str) else value, name)
    if isinstance(default, bool):
        if not isinstance(value, bool):
            raise ValueError(f"{name} is {value!r}: must be True or False")
        return value
    if about.get("path"):
        return str(value)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{name} is {value!r}: must be a number")
    if isinstance(default, int) and value != int(value):
        raise ValueError(f"{name} is {value!r}: must be a whole number")
    return type(default)(given_value(option, value, name))
