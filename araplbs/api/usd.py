"""Functions that read, weight and save the characters in USD files."""

from __future__ import annotations

import os
from pathlib import Path

from ..usd.character import usd_characters
from ..usd.stage import UsdDocument
from .gltf import GltfCharacter, GltfFile


class UsdCharacter(GltfCharacter):
    """A Skeleton of UsdSkel from a file, together with all meshes bound to it. The attributes and
    methods are those of GltfCharacter, and raise the same exceptions."""


class UsdFile(GltfFile):
    """A USD file read by load_usd(). characters: a list with one UsdCharacter for each skeleton
    that has meshes. save() raises Refused if the file at the path is of a different type."""

    kind = UsdCharacter


def load_usd(path: str | os.PathLike[str]) -> UsdFile:
    """Read the characters of a .usd, .usda, .usdc or .usdz file, with the package usd-core (pip
    install 'araplbs[usd]'). Only the weights of its root layer are written. Raises araplbs.Refused,
    with a sentence as its message, for files that cannot be used, such as files without UsdSkel."""
    return UsdFile(usd_characters(UsdDocument(Path(path))))
