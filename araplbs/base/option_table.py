"""Tables of options: fields with their limits and user-visible texts."""

import math
from dataclasses import Field, dataclass, field, fields
from typing import Any

from .declared import DECLARED
from .refusal import BadOption

# Types and functions of araplbs that accept the settings of a section of csrc/settings.def.
SOLVER, JOINTS = ("Solver",), ("JointSolver",)
TYPES = {
    "SAMPLING": SOLVER + JOINTS,
    "COMMON": SOLVER + JOINTS,
    "SOLVER": SOLVER,
    "JOINTS": JOINTS,
    "MATCH": ("match_surfaces", "transfer_shapes"),
    "SHAPES": ("transfer_shapes",),
}


def option(default: Any, name: str, description: str, **limits: Any) -> Any:
    """A field whose metadata describes it to a user.

    min, max: values outside are refused; soft_max: end of the slider; choices: (identifier, name,
    description) of each item of an enumeration; angle: in radians, shown in degrees; decimals:
    number of decimals shown; path: a text that names a file; advanced: for experts; paper: for the
    method of the 2018 paper, not shown; engine: the types and functions of araplbs that have the
    option as a setting (araplbs.SETTINGS); setting: its name there, if that name is different.
    """
    return field(default=default, metadata={"name": name, "description": description, **limits})


def setting(section: str, setting: str, name: str, description: str, **limits: Any) -> Any:
    """An option that is a setting of the engine, from this section of csrc/settings.def. Its
    default and range come from that file, unless `limits` contains its own `default` or a narrower
    range."""
    default, least, most = DECLARED[section][setting]
    about: dict[str, Any] = {} if least is None else {"min": least, "max": most}
    if section in TYPES:
        about |= {"engine": TYPES[section], "setting": setting}
    about |= limits
    default = about.pop("default", default)
    return option(default.upper() if "choices" in about else default, name, description, **about)


def option_of(table: "type[OptionTable]", name: str, default: Any = None) -> Any:
    """The option from another table, optionally with a different default."""
    about = next(each for each in fields(table) if each.name == name)
    return option(about.default if default is None else default, **about.metadata)


def _shown(number: float) -> str:
    return str(number) if isinstance(number, int) else f"{number:g}"


def check_value(
    about: Field[Any], value: Any, name: str = "", *, degrees: bool = False, lower: bool = False
) -> None:
    """Raises BadOption for a value outside the limits of an option. degrees, lower: whether the
    value is given in degrees, or as a lowercase choice; if so, the message states the limits in
    that form."""
    limits, each = about.metadata, name or about.name
    if "choices" in limits:
        names = [choice[0].lower() if lower else choice[0] for choice in limits["choices"]]
        if value not in names:
            raise BadOption(f"{each} is {value!r}: must be one of {names}")
    elif "min" in limits:
        low, high, unit = limits["min"], limits["max"], ""
        if limits.get("angle"):
            unit = " degrees" if degrees else " radians"
            low, high = map(math.degrees, (low, high)) if degrees else (low, high)
        if not low <= value <= high:
            value, least, most = _shown(value) + unit, _shown(low), _shown(high) + unit
            raise BadOption(f"{each} is {value}: must be from {least} to {most}")


def given_value(about: Field[Any], value: Any, name: str, *, degrees: bool = False) -> Any:
    """The value of an option given under this name, with a lowercase choice. degrees: whether
    angles are given in degrees. Raises BadOption, with the limits in the same form as the value."""
    check_value(about, value, name, degrees=degrees, lower=True)
    if "choices" in about.metadata:
        return value.upper()
    return math.radians(value) if degrees and about.metadata.get("angle") else value


@dataclass(frozen=True)
class OptionTable:
    """A table of options. Raises BadOption for a value outside its limits."""

    def __post_init__(self) -> None:
        for each in fields(self):
            check_value(each, getattr(self, each.name))

    def as_dict(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def engine_arguments(self, kind: str) -> dict[str, Any]:
        """The options that are keyword arguments of this type or function of araplbs."""
        found = {}
        for each in fields(self):
            about, value = each.metadata, getattr(self, each.name)
            if kind in about.get("engine", ()):
                name = about.get("setting", each.name)
                found[name] = value.lower() if "choices" in about else value
        return found


def within_limits(option: Field[Any], value: Any) -> Any:
    """The value of an option that is stored in a Blender property, clamped to its limits: 180
    degrees is pi in single precision, which is more than pi."""
    if isinstance(option.default, float):
        value = _as_typed(value, bool(option.metadata.get("angle")))
    if "min" in option.metadata:
        return min(max(value, option.metadata["min"]), option.metadata["max"])
    return value


def _as_typed(value: float, angle: bool) -> float:
    """The number that a user would type for the value of a property stored in single precision. The
    command line and scripts receive this number, which produces the same bits. Users type an angle
    in degrees and scripts set it in radians, so the shorter of the two numbers is used."""
    import numpy as np  # the command line starts without NumPy

    plain = str(np.float32(value))
    if angle:
        degrees = str(np.float32(math.degrees(value)))
        if len(degrees) <= len(plain):
            return math.radians(float(degrees))
    return float(plain)
