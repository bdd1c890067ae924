"""Presets of Blender's operators, read without running them."""

import ast
import importlib.util
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..base.refusal import Refused
from .inputs import read_input_text

MOST_BYTES = 1 << 20
FOLDER = "operator/object.araplbs_auto_weight"  # of Blender's presets
# {option: value} of the recipe of the paper of 2018: the add-on's preset of that name.
AS_PUBLISHED: dict[str, Any] = {
    "max_influences": 0,
    "truss": 0.0,
    "kept_sum": 0.95,
    "relative": 0.05,
    "least_worth": 0.00003,
    "edge_power": 0.0,
    "widenings": 0,
    "paper_constraints": True,
    "symmetric": False,
    "control_bones": "INCLUDE",
    "rigid_parts": "MARKED",
}


def preset_values(text: str) -> dict[str, Any]:
    """{property: value} of a preset file of Blender, read without running it.

    Raises SyntaxError, or ValueError for expressions that would have to be run, or that are not
    plain values.
    """
    try:
        nodes = ast.parse(text).body
    except (RecursionError, MemoryError):
        raise ValueError("it is nested too deep") from None
    values = {}
    for node in nodes:
        if not isinstance(node, ast.Assign) or len(node.targets) != 1:
            continue
        target = node.targets[0]
        if (
            isinstance(target, ast.Attribute)
            and isinstance(target.value, ast.Name)
            and target.value.id == "op"
        ):
            values[target.attr] = _plain(node)
    return values


def _plain(node: ast.Assign) -> Any:
    """The number, word or switch of an assignment. Raises ValueError."""
    try:
        value = ast.literal_eval(node.value)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        value = None
    if not isinstance(value, (bool, int, float, str)):
        raise ValueError(f"line {node.lineno} gives no plain value")
    return value


def read_preset(path: str | Path) -> dict[str, Any]:
    """preset_values() of a file. Raises Refused, SyntaxError and ValueError."""
    return preset_values(read_input_text(path, MOST_BYTES))


# Names of those that come with the add-on, as the menu has them.
ORDER = (
    *("Game 4", "Game 8", "Unity", "Unreal", "Godot", "Roblox", "VRChat", "Mobile", "Crisp"),
    *("Film", "As published (2018 paper)"),
)
AS_GOOD_AS = 1e-6  # settings are kept in single precision


def is_in_use(values: Mapping[str, Any], settings: object) -> bool:
    """Whether settings are those of a preset; settings that it does not name are free."""
    known = {name: value for name, value in values.items() if hasattr(settings, name)}
    return bool(known) and all(
        _same(value, getattr(settings, name)) for name, value in known.items()
    )


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, float):
        return abs(one - other) <= AS_GOOD_AS * max(1e-3, abs(one))
    return one == other


def preset_text(values: Mapping[str, Any]) -> str:
    """A preset file of Blender with these values of the operator."""
    lines = [f"op.{name} = {value!r}" for name, value in values.items()]
    return "\n".join(["import bpy", "", "op = bpy.context.active_operator", "", *lines, ""])


def presets_in(folders: Iterable[str | Path]) -> dict[str, Path]:
    """{name: file} of the presets in these folders, under the names that a shell takes: game-4,
    unity, as-published. A later folder comes first."""
    files = (file for folder in folders for file in sorted(Path(folder).glob("*.py")))
    return {_short(file.stem): file for file in files}


def preset_named(name: str, folders: Iterable[str | Path]) -> dict[str, Any]:
    """The values of the preset of this name, in any letters. Raises Refused."""
    known = presets_in(folders)
    file = known.get(_short(name))
    if file is None:
        listed = ", ".join(known) or "no preset was found"
        raise Refused(f"no preset is called {name}: {listed}")
    try:
        return read_preset(file)
    except (OSError, SyntaxError, ValueError) as error:
        raise Refused(f"the preset {file} cannot be read: {error}") from None


def own_presets() -> list[Path]:
    """The folder of the presets that come with the add-on, whose modules are in the wheel."""
    spec = importlib.util.find_spec("araplbs_addon")
    places = spec.submodule_search_locations if spec else None
    return [Path(place, "presets", FOLDER) for place in places or ()]


def _short(name: str) -> str:
    """'As_published_(2018_paper)' is as-published."""
    letters = (c if c.isalnum() else " " for c in name.partition("(")[0].lower())
    return "-".join("".join(letters).split())
