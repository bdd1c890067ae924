"""Checks kept weights from a file, which may come from an untrusted source. Each check names the
fault and the value. This module does not use bpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...base.refusal import Refused
from ...model.edits import EDIT_KINDS

MOST_NAMES = 10_000  # groups, bones or edits of one mesh
LONGEST = 255  # bytes of a name
LETTERS = 60  # maximum length of a value in a message

# {name: (dimensions, kinds of number)}; the length of the first dimension follows from other
# arrays.
ARRAYS = {
    "vertices": (2, "f"),
    "triangles": (2, "iu"),
    "start": (1, "iu"),
    "group": (1, "iu"),
    "weight": (1, "f"),
    "ends": (3, "f"),
    "edits": (2, "f"),
}


class Odd(Exception):
    """An error that describes the fault in a few words."""


def check_list(about: Any) -> None:
    """Raises Odd if this is not a list of dictionaries, one for each mesh."""
    if not isinstance(about, list) or not about:
        raise Odd(f"the list of meshes is {_shown(about)}")
    for each in about:
        if not isinstance(each, dict):
            raise Odd(f"a mesh is {_shown(each)}")


def check_about(about: dict[str, Any]) -> None:
    """Raises Odd if this does not match the description that pack() writes for a mesh."""
    for name in ("name", "armature"):
        _check_name(f"its '{name}'", about.get(name))
    for name in ("groups", "bones"):
        values = _list(about, name)
        for value in values:
            _check_name(f"one of its '{name}'", value)
        if len(set(values)) < len(values):
            twice = next(value for value in values if values.count(value) > 1)
            raise Odd(f"{_shown(twice)} occurs twice in its '{name}'")
    for item in _list(about, "edits"):
        _check_edit(item)


def _list(about: dict[str, Any], name: str) -> list[Any]:
    values = about.get(name)
    if not isinstance(values, list):
        raise Odd(f"its '{name}' is {_shown(values)}")
    if len(values) > MOST_NAMES:
        raise Odd(f"its '{name}' has {len(values)} entries: at most {MOST_NAMES}")
    return values


def _check_name(what: str, value: Any) -> None:
    """Accepts Blender's byte names, which Python holds as lone surrogates if they are not UTF-8."""
    try:
        size = len(value.encode("utf-8", "surrogateescape"))
    except (AttributeError, UnicodeEncodeError):
        raise Odd(f"{what} is {_shown(value)}, not a name") from None
    if not 0 < size <= LONGEST or "\0" in value:
        raise Odd(
            f"{what} is {_shown(value)}: names must have 1 to {LONGEST} bytes, none of which is 0"
        )


def _check_edit(item: Any) -> None:
    if not isinstance(item, list) or len(item) != 4:
        raise Odd(f"one of its 'edits' is {_shown(item)}")
    name, kind, bone, use = item
    if not isinstance(name, str) or not isinstance(bone, str) or not isinstance(use, bool):
        raise Odd(f"one of its 'edits' is {_shown(item)}")
    for text in filter(None, (name, bone)):
        _check_name("a name of one of its 'edits'", text)
    if kind not in EDIT_KINDS:
        raise Odd(f"the kind of one of its 'edits' is {_shown(kind)}")


def check_arrays(about: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Raises Odd if the arrays of one mesh are inconsistent. arrays: under the names above."""
    for name, (dimensions, kinds) in ARRAYS.items():
        values = arrays[name]
        if values.ndim != dimensions or values.dtype.kind not in kinds:
            raise Odd(f"its '{name}' has shape {values.shape} and type {values.dtype}")
    count, entries = len(arrays["vertices"]), len(arrays["group"])
    _check_shape(arrays, "vertices", (max(count, 1), 3))
    _check_shape(arrays, "triangles", (max(len(arrays["triangles"]), 1), 3))
    _check_shape(arrays, "start", (count + 1,))
    _check_shape(arrays, "weight", (entries,))
    _check_shape(arrays, "ends", (len(about["bones"]), 2, 3))
    _check_shape(arrays, "edits", (len(about["edits"]), count))
    start = arrays["start"]
    _check(arrays, "triangles", lambda values: (values >= 0) & (values < count))
    _check(arrays, "group", lambda values: (values >= 0) & (values < len(about["groups"])))
    _check(arrays, "weight", lambda values: np.isfinite(values) & (values >= 0))
    for name in ("vertices", "ends", "edits"):
        _check(arrays, name, np.isfinite)
    if start[0] != 0 or start[-1] != entries or (start[1:] < start[:-1]).any():
        raise Odd(f"its 'start' does not ascend from 0 to {entries}")
    inside = np.ones(max(entries - 1, 0), bool)
    ends = start[1:-1]
    inside[ends[(ends > 0) & (ends < entries)] - 1] = False
    group = arrays["group"]
    if (inside & (group[1:] <= group[:-1])).any():
        raise Odd("the groups of one of its vertices do not ascend")


def _check_shape(arrays: dict[str, np.ndarray], name: str, wanted: tuple[int, ...]) -> None:
    if arrays[name].shape != wanted:
        raise Odd(f"its '{name}' has shape {arrays[name].shape}: must be {wanted}")


def _check(
    arrays: dict[str, np.ndarray], name: str, is_good: Callable[[np.ndarray], np.ndarray]
) -> None:
    values = arrays[name]
    bad = values[~is_good(values)]
    if len(bad):
        raise Odd(f"its '{name}' has the value {bad.flat[0]}")


def _shown(value: Any) -> str:
    text = ascii(value)
    return text if len(text) <= LETTERS else text[:LETTERS] + "..."


def refused(where: str, name: Any, reason: Odd) -> Refused:
    """The error message. name: the name of the mesh, None if it is unknown."""
    of = f" of {_shown(name)}" if name is not None else ""
    return Refused(f"{where} is damaged: its kept weights{of} cannot be used: {reason}")
