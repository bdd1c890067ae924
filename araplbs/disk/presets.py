"""Reads the presets of the add-on and of Blender's operators without running them."""

import ast
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..base.refusal import Refused
from .inputs import read_input_text

MOST_BYTES = 1 << 20
FOLDER = "operator/object.araplbs_auto_weight"  # of Blender's presets
# {option: value} for the method of the 2018 paper, as in the add-on's preset of that name.
AS_PUBLISHED: dict[str, Any] = {
    "max_influences": 0,
    "bone_spring_stiffness": 0.0,
    "prune_sum": 0.95,
    "prune_ratio": 0.05,
    "min_gain": 0.00003,
    "edge_power": 0.0,
    "expansion_rounds": 0,
    "paper_constraints": True,
    "symmetric": False,
    "limb_twist": 0.0,
    "control_bones": "INCLUDE",
    "rigid_parts": "MARKED",
}


def preset_values(text: str) -> dict[str, Any]:
    """Returns {property: value} for a Blender preset file, read without running it.

    Raises SyntaxError, and ValueError for expressions that are not plain values and would have to
    be run.
    """
    try:
        nodes = ast.parse(text).body
    except (RecursionError, MemoryError):
        raise ValueError("it is nested too deeply") from None
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
    """The number, word or switch on the right of an assignment. Raises ValueError."""
    try:
        value = ast.literal_eval(node.value)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        value = None
    if not isinstance(value, (bool, int, float, str)):
        raise ValueError(f"line {node.lineno} does not assign a literal value")
    return value


def read_preset(path: str | Path) -> dict[str, Any]:
    """Applies preset_values() to a file. Raises Refused, SyntaxError and ValueError."""
    return preset_values(read_input_text(path, MOST_BYTES))


# The changes that the add-on's presets make to the defaults, in menu order.
PRESETS: dict[str, dict[str, Any]] = {
    "Game 4": {},
    "Game 8": {"max_influences": 8},
    "Unity": {},
    "Unreal": {"max_influences": 8},
    "Godot": {},
    "Roblox": {},
    "VRChat": {},
    "Mobile": {"max_influences": 2},
    "Soft": {"bone_spring_stiffness": 12.0},
    "Crisp": {"bone_spring_stiffness": 24.0, "min_gain": 0.02},
    "Film": {"max_influences": 0, "bone_spring_stiffness": 8.0, "min_gain": 0.001},
    "As published (2018 paper)": AS_PUBLISHED,
}
ORDER = tuple(PRESETS)
AS_GOOD_AS = 1e-6  # settings are stored in single precision


def is_in_use(values: Mapping[str, Any], settings: object) -> bool:
    """Whether settings match a preset. Settings that the preset does not name may have any
    value."""
    known = {name: value for name, value in values.items() if hasattr(settings, name)}
    return bool(known) and all(
        _same(value, getattr(settings, name)) for name, value in known.items()
    )


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, float):
        return abs(one - other) <= AS_GOOD_AS * max(1e-3, abs(one))
    return one == other


def preset_text(values: Mapping[str, Any]) -> str:
    """The text of a Blender preset file with these operator values."""
    lines = [f"op.{name} = {value!r}" for name, value in values.items()]
    return "\n".join(["import bpy", "", "op = bpy.context.active_operator", "", *lines, ""])


def preset_files(defaults: Mapping[str, Any]) -> dict[str, str]:
    """Returns {name: text} of the files of the add-on's presets for Blender. Each file sets every
    option that any of the presets changes. defaults: the default of each option."""
    usual = {name: defaults[name] for name in AS_PUBLISHED}
    return {
        f"{name.replace(' ', '_')}.py": preset_text(usual | changes)
        for name, changes in PRESETS.items()
    }


def presets_in(folders: Iterable[str | Path]) -> dict[str, Path]:
    """Returns {name: file} for the presets in these folders, under shell-friendly names: game-4,
    unity, as-published. A later folder takes precedence."""
    files = (file for folder in folders for file in sorted(Path(folder).glob("*.py")))
    return {_short(file.stem): file for file in files}


def own_presets() -> dict[str, dict[str, Any]]:
    """Returns {name: changes to the defaults} for the add-on's presets, under shell-friendly
    names."""
    return {_short(name): changes for name, changes in PRESETS.items()}


def preset_named(name: str, folders: Iterable[str | Path] = ()) -> dict[str, Any]:
    """The values of the preset with this name, in any case, in one of these folders or in the
    add-on. Raises Refused."""
    files, own, short = presets_in(folders), own_presets(), _short(name)
    if short not in files and short not in own:
        listed = ", ".join(sorted({*files, *own}))
        raise Refused(f"there is no preset named {name}: {listed}")
    if short not in files:
        return dict(own[short])
    try:
        return read_preset(files[short])
    except (OSError, SyntaxError, ValueError) as error:
        raise Refused(f"the preset {files[short]} cannot be read: {error}") from None


def _short(name: str) -> str:
    """Converts 'As_published_(2018_paper)' to as-published."""
    letters = (c if c.isalnum() else " " for c in name.partition("(")[0].lower())
    return "-".join("".join(letters).split())
