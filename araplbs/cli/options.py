"""Converts panel options into arguments of both commands, `araplbs` and `blender -c araplbs`. Each
argument is named after the option in the panel or in the settings."""

from __future__ import annotations

import argparse
import math
from collections.abc import Container, Iterable, Mapping
from dataclasses import Field, fields
from pathlib import Path
from typing import Any, TypeVar

from ..base.option_table import OptionTable, given_value
from ..base.refusal import BadOption, Refused
from ..disk.presets import preset_named
from ..model.options import Options
from .errors import WrongArguments

Table = TypeVar("Table", bound=OptionTable)


def flags_of(option: Field[Any]) -> list[str]:
    """Returns the flags of an option, such as ["--firmness", "--bone-spring-stiffness"]: from
    its name in the panel and its name in the settings."""
    words = option.metadata["name"].lower().replace("(", "").replace(")", "").split()
    own, plain = "--" + "-".join(words), "--" + option.name.replace("_", "-")
    return [*dict.fromkeys((own, plain))]


def offered(
    table: type[OptionTable], without: Container[str] = (), only: Container[str] | None = None
) -> list[Field[Any]]:
    """The options of a command that processes files other than .blend files."""
    return [
        option
        for option in fields(table)
        if not (option.metadata.get("paper") or option.metadata.get("path"))
        and option.name not in without
        and (only is None or option.name in only)
    ]


def as_argument(option: Field[Any], value: Any) -> Any:
    """Converts the value of an option to command-line syntax."""
    if "choices" in option.metadata:
        return value.lower()
    return round(math.degrees(value), 6) if option.metadata.get("angle") else value


def add_options(
    parser: argparse.ArgumentParser, options: Iterable[Field[Any]], texts: Mapping[str, str] = {}
) -> None:
    """Adds one argument for each option, under the panel's name and under other names that the help
    omits. An option that the user does not give is absent from the arguments, so a preset can
    supply its value. Without a preset, the value is action.usual. texts: help for options to which
    the panel's text does not apply."""
    groups = {
        False: parser.add_argument_group("options, as in the panel"),
        True: parser.add_argument_group("advanced options"),
    }
    for option in options:
        about: Any = option.metadata
        text = texts.get(option.name, about["description"]).replace("%", "%%")
        usual = as_argument(option, option.default)
        settings: dict[str, Any] = {"dest": option.name, "default": argparse.SUPPRESS}
        if isinstance(usual, bool):
            text += f" (default: {'on' if usual else 'off'})"
            settings["action"] = argparse.BooleanOptionalAction
        elif "choices" in about:
            settings["choices"] = [name.lower() for name, _label, _tip in about["choices"]]
            settings["metavar"] = "NAME"
            text += ". One of " + ", ".join(settings["choices"]) + f" (default: {usual})"
        elif about.get("path"):
            settings["metavar"] = "FILE"
        else:
            angle = about.get("angle")
            text += f" (default: {usual:g}{' degrees' if angle else ''})"
            settings |= {"type": type(option.default), "metavar": "DEGREES" if angle else "N"}
        group = groups[bool(about.get("advanced"))]
        for number, flag in enumerate(flags_of(option)):
            shown = argparse.SUPPRESS if number else text
            action: Any = group.add_argument(flag, help=shown, **settings)
            action.usual = usual


def read_options(
    table: type[Table],
    options: Iterable[Field[Any]],
    arguments: argparse.Namespace,
    values: Mapping[str, Any] = {},
) -> Table:
    """Overrides these values with the options that were given, and stores all values in the
    arguments. Raises WrongArguments for a value out of range. The message uses the name and unit
    that the user gave."""
    found = dict(values)
    try:
        for option in options:
            if not hasattr(arguments, option.name):
                usual = as_argument(option, values.get(option.name, option.default))
                setattr(arguments, option.name, usual)
                continue
            value, flag = getattr(arguments, option.name), flags_of(option)[0]
            found[option.name] = given_value(option, value, flag, degrees=True)
        return table(**found)
    except BadOption as error:
        raise WrongArguments(str(error)) from None


def preset_options(name: str, folders: Iterable[str | Path] = ()) -> dict[str, Any]:
    """Returns {option: value} of a preset of Auto-weight, from the user's presets in these folders
    or from the built-in ones. Raises Refused."""
    known = {option.name for option in fields(Options)}
    values = preset_named(name, folders)
    return {option: value for option, value in values.items() if option in known}


def preset_given(
    arguments: argparse.Namespace, folders: Iterable[str | Path] = ()
) -> dict[str, Any]:
    """Returns the options of the preset given with --preset. Raises WrongArguments."""
    if getattr(arguments, "preset", None) is None:
        return {}
    try:
        return preset_options(arguments.preset, folders)
    except Refused as error:
        raise WrongArguments(f"--preset: {error}") from None
