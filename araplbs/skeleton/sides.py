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
    side_word = OTHER[side.lower()]
    if side.isupper():
        return side_word.upper()
    return side_word.capitalize() if side[0].isupper() else side_word


def other_names(name: str) -> list[str]:
    """Candidate names for the other side: first with all words for sides changed, then with one
    changed at a time, beginning with the last. Empty for a name without a side."""
    words = list(SIDE.finditer(name))
    names = [SIDE.sub(lambda mark: _other(mark[0]), name)] if words else []
    for mark in reversed(words if len(words) > 1 else []):
        names.append(name[: mark.start()] + _other(mark[0]) + name[mark.end() :])
    return names


def _sideless(name: str) -> Iterable[tuple[str, bool]]:
    """Returns (the name without a word for the side and a final number, whether the side is the
    left)."""
    for mark in SIDE.finditer(name):
        rest = f"{name[: mark.start()]}\0{name[mark.end() :]}"
        yield NUMBER.sub("", rest), mark[0].lower() in LEFT


@functools.lru_cache(maxsize=REMEMBERED)
def opposite_bones(names: tuple[str, ...]) -> Integers:
    """The mirror image of each bone by its name, (m,), or the bone itself."""
    bone_of_name = {name: bone for bone, name in enumerate(names)}
    opposite = np.arange(len(names))
    for bone, name in enumerate(names):
        candidates = (bone_of_name.get(other) for other in other_names(name))
        image = next((other for other in candidates if other is not None), bone)
        if opposite[bone] == bone and opposite[image] == image:
            opposite[bone], opposite[image] = image, bone
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
