"""Tables of options: fields with their limits and what a user reads of them."""

from dataclasses import dataclass, field, fields
from typing import Any

from .refusal import BadOption


def option(default: Any, name: str, description: str, **limits: Any) -> Any:
    """A field whose metadata describes it to a user.

    least, most: values outside are refused; soft_most: end of the slider; choices: (identifier,
    name, description) of an enumeration; angle: radians, shown in degrees; decimals: shown of a
    number; path: a text that names a file; advanced: for experts; paper: for what the paper of 2018
    did, shown nowhere; engine: the types of araplbs that have it as a setting (araplbs.SETTINGS),
    under the name `setting` where that is another.
    """
    return field(default=default, metadata={"name": name, "description": description, **limits})


def option_of(table: "type[OptionTable]", name: str, default: Any = None) -> Any:
    """The same option as another table has; with a default of its own if one is given."""
    about = next(each for each in fields(table) if each.name == name)
    return option(about.default if default is None else default, **about.metadata)


@dataclass(frozen=True)
class OptionTable:
    """A table of options; raises BadOption for a value outside of its limits."""

    def __post_init__(self) -> None:
        for each in fields(self):
            value, limits = getattr(self, each.name), each.metadata
            if "choices" in limits:
                names = [choice[0] for choice in limits["choices"]]
                if value not in names:
                    raise BadOption(f"{each.name} is {value!r}: must be one of {names}")
            elif "least" in limits and not limits["least"] <= value <= limits["most"]:
                raise BadOption(
                    f"{each.name} is {value}: must be from {limits['least']} to {limits['most']}"
                )

    def as_dict(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}
