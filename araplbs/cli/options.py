"""Options of the panel as arguments of a command, under the names in the panel and those of
`blender -c araplbs`."""

from __future__ import annotations

import argparse
import math
from collections.abc import Container, Sequence
from dataclasses import Field, fields
from typing import Any, TypeVar

from ..base.old_names import OPTIONS, old_flags
from ..base.option_table import OptionTable, check_value
from ..base.printed import complain
from ..base.refusal import BadOption
from ..model.options import Options
from .errors import WrongArguments

Table = TypeVar("Table", bound=OptionTable)


def flags_of(option: Field[Any]) -> list[str]:
    """["--firmness", "--bone-spring-stiffness", "--truss"]: of the panel, of the setting, and the
    names that it had."""
    words = option.metadata["name"].lower().replace("(", "").replace(")", "").split()
    own, plain = "--" + "-".join(words), "--" + option.name.replace("_", "-")
    return [*dict.fromkeys((own, plain, *old_flags(option.name)))]


def warn_old_flags(words: Sequence[str], table: type[OptionTable] = Options) -> None:
    """One line on the standard error for each option under an old name."""
    given = {str(word).partition("=")[0] for word in words}
    kept = {flags_of(option)[0] for option in fields(table)}
    for new in OPTIONS.values():
        for old in sorted(given.intersection(old_flags(new)) - kept):
            complain(f"araplbs: {old} is now --{new.replace('_', '-')}")


def is_offered(option: Field[Any], without: Container[str], only: Container[str] | None) -> bool:
    about = option.metadata
    if "name" not in about or about.get("paper") or about.get("path"):
        return False
    return option.name not in without and (only is None or option.name in only)


def add_options(
    parser: argparse.ArgumentParser,
    table: type[OptionTable],
    without: Container[str] = (),
    only: Container[str] | None = None,
) -> None:
    """One argument for each; None stands for options that were not given."""
    groups = {
        False: parser.add_argument_group("options, as in the panel"),
        True: parser.add_argument_group("advanced options"),
    }
    for option in fields(table):
        if not is_offered(option, without, only):
            continue
        about: Any = option.metadata
        default: Any = option.default
        text = about["description"].replace("%", "%%")
        group, flags = groups[bool(about.get("advanced"))], flags_of(option)
        settings: dict[str, Any] = {"dest": option.name, "default": None}
        if isinstance(default, bool):
            text += f" (default: {'on' if default else 'off'})"
            settings["action"] = argparse.BooleanOptionalAction
        elif "choices" in about:
            settings["choices"] = [name.lower() for name, _label, _tip in about["choices"]]
            settings["metavar"] = "NAME"
            text += ". One of " + ", ".join(settings["choices"]) + f" (default: {default.lower()})"
        else:
            angle = about.get("angle")
            shown = round(math.degrees(default), 6) if angle else default
            text += f" (default: {shown:g}{' degrees' if angle else ''})"
            settings |= {"type": type(default), "metavar": "DEGREES" if angle else "N"}
        group.add_argument(*flags, help=text, **settings)


def read_options(
    table: type[Table], arguments: argparse.Namespace, defaults: dict[str, Any] | None = None
) -> Table:
    """The options that were given, over `defaults`. Raises WrongArguments for a value out of range,
    in the unit and under the name that it was given."""
    values = dict(defaults or {})
    try:
        for option in fields(table):
            value, about = getattr(arguments, option.name, None), option.metadata
            if value is None or not is_offered(option, (), None):
                continue
            if "choices" in about:
                value = value.upper()
            else:
                check_value(option, value, flags_of(option)[0], degrees=True)
                value = math.radians(value) if about.get("angle") else value
            values[option.name] = value
        return table(**values)
    except BadOption as error:
        raise WrongArguments(str(error)) from None
