"""Finds the name of the corresponding bone on the other side, which differs only in the word for
the side.

Importers and riggers mark sides in many ways: `arm.L`, `arm_l`, `LeftArm`, `mixamorig:LeftArm`,
`Bip01 L Thigh`, `J_Bip_L_Hand`, `X.R_Armature`, `lShldrBend`, the kanji of MMD. Some exporters end
every name with a unique number, as in `arm.L_08` and `arm.R_12`. This number is ignored if there is
no exact match. Blender's own flip_name, which Mirror modifiers use, only recognizes sides at the
beginning and the end of a name.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

import numpy as np

from ..base.arrays import Integers

REMEMBERED = 16  # skeletons

# Words and single letters for sides. A letter is separate, or begins or ends a capitalized word.
SIDE = re.compile(
    r"left|right|(?<![a-z])[lr](?![a-z])|[左右]"
    r"|(?-i:(?<=[a-z0-9])[LR](?![a-z])|(?<![A-Za-z])[lrLR](?=[A-Z][a-z]))",
    re.IGNORECASE,
)
OTHER = {"left": "right", "right": "left", "l": "r", "r": "l", "左": "右", "右": "左"}
LEFT = {"left", "l", "左"}
NUMBER = re.compile(r"[._ ]\d+$")  # suffix added to a name by an exporter


def _other(side: str) -> str:
    """The other side in the same case: uppercase, or with a capital first letter."""
    found = OTHER[side.lower()]
    if side.isupper():
        return found.upper()
    return found.capitalize() if side[0].isupper() else found


def other_names(name: str) -> list[str]:
    """Candidate names for the other side: first with all words for sides changed, then with one
    changed at a time, beginning with the last. Empty for a name without a side."""
    marks = list(SIDE.finditer(name))
    found = [SIDE.sub(lambda mark: _other(mark[0]), name)] if marks else []
    for mark in reversed(marks if len(marks) > 1 else []):
        found.append(name[: mark.start()] + _other(mark[0]) + name[mark.end() :])
    return found


def _sideless(name: str) -> Iterable[tuple[str, bool]]:
    """Returns (the name without a word for the side and a final number, whether the side is the
    left)."""
    for mark in SIDE.finditer(name):
        rest = f"{name[: mark.start()]}\0{name[mark.end() :]}"
        yield NUMBER.sub("", rest), mark[0].lower() in LEFT


@functools.lru_cache(maxsize=REMEMBERED)
def opposite_bones(names: tuple[str, ...]) -> Integers:
    """The mirror image of each bone by its name, (m,), or the bone itself."""
    place = {name: bone for bone, name in enumerate(names)}
    opposite = np.arange(len(names))
    for bone, name in enumerate(names):
        others = (place.get(other) for other in other_names(name))
        found = next((other for other in others if other is not None), bone)
        if opposite[bone] == bone and opposite[found] == found:
            opposite[bone], opposite[found] = found, bone
    sides: dict[str, tuple[list[int], list[int]]] = {}
    for bone in np.flatnonzero(opposite == np.arange(len(names))).tolist():
        for rest, is_left in _sideless(names[bone]):
            sides.setdefault(rest, ([], []))[is_left].append(bone)
    for right, left in sides.values():
        pair = [*right, *left]
        if len(right) == len(left) == 1 and (opposite[pair] == pair).all():
            opposite[pair] = pair[::-1]
    opposite.flags.writeable = False
    return opposite
