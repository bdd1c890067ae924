"""Prepares a character for a game engine: provides settings for Blender's exporters and limits the
influences per vertex to the number that the engine reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..base.arrays import ranks
from ..model.group_entries import Entries


@dataclass(frozen=True)
class Engine:
    """The requirements of a game engine. settings: exporter settings in addition to the common
    ones."""

    name: str
    kind: str  # exporter: "gltf" or "fbx"
    most: int  # influences per vertex
    up: str
    settings: dict[str, Any] = field(default_factory=dict)


_Y_UP: dict[str, Any] = {"axis_forward": "-Z", "axis_up": "Y"}
ENGINES = {
    "UNITY": Engine("Unity", "fbx", 4, "Y", _Y_UP),
    "UNREAL": Engine(
        "Unreal",
        "fbx",
        8,
        "Z",
        {"axis_forward": "-Y", "axis_up": "Z", "mesh_smooth_type": "FACE"},
    ),
    "GODOT": Engine("Godot", "gltf", 4, "Y"),
    "ROBLOX": Engine(
        "Roblox", "fbx", 4, "Y", {**_Y_UP, "path_mode": "COPY", "embed_textures": True}
    ),
    "VRCHAT": Engine("VRChat", "fbx", 4, "Y", _Y_UP),
    "WEB": Engine("Web and Others", "gltf", 4, "Y"),
}
ENDINGS = {"gltf": ".glb", "fbx": ".fbx"}
NAMES = {"gltf": "glTF 2.0 format", "fbx": "FBX format"}  # operators of Blender's add-ons
OF_ALL: dict[str, dict[str, Any]] = {
    "gltf": {
        "export_format": "GLB",
        "use_selection": True,
        "export_yup": True,
        "export_skins": True,
        "export_def_bones": True,
        "export_all_influences": False,
    },
    "fbx": {
        "use_selection": True,
        "object_types": {"ARMATURE", "MESH"},
        "use_armature_deform_only": True,
        "add_leaf_bones": False,
        "apply_scale_options": "FBX_SCALE_UNITS",
    },
}


def exporter_settings(engine: Engine, animations: bool) -> dict[str, Any]:
    """The settings of Blender's exporter, without the file."""
    found = {**OF_ALL[engine.kind], **engine.settings}
    if engine.kind == "gltf":
        return {**found, "export_influence_nb": engine.most, "export_animations": animations}
    return {**found, "bake_anim": animations}


def words(engine: Engine) -> list[str]:
    """The settings as text for the user."""
    lines = ["Deform bones only", f"At most {engine.most} influences", f"{engine.up} up"]
    return [*lines, "No leaf bones"] if engine.kind == "fbx" else lines


def with_ending(filepath: str, engine: Engine) -> str:
    for ending in ENDINGS.values():
        if filepath.lower().endswith(ending):
            filepath = filepath[: -len(ending)]
    return filepath + ENDINGS[engine.kind]


def limited(entries: Entries, is_bone: Sequence[bool], most: int, size: int) -> tuple[Entries, int]:
    """Returns (entries, number of vertices with more bone influences than `most`). Such vertices
    keep the largest influences, scaled to the original sum. Groups that are not bones stay.
    is_bone: whether each group is a bone. size: the number of vertices."""
    known = np.array([*is_bone, False])
    vertices, groups, weights = entries
    weights = weights.astype(np.float64)
    own = np.flatnonzero(known[np.minimum(groups, len(known) - 1)] & (weights > 0))
    own = own[np.lexsort([-weights[own], vertices[own]])]  # sums begin with the largest weight
    is_kept = ranks(vertices[own], -weights[own], groups[own]) < most
    many, kept = np.unique(vertices[own[~is_kept]]), own[is_kept]
    if not len(many):
        return entries, 0
    whole, left = (np.bincount(vertices[part], weights[part], size) for part in (own, kept))
    share = np.ones(size)
    share[many] = whole[many] / left[many]
    weights[kept] *= share[vertices[kept]]
    stays = np.ones(len(weights), bool)
    stays[own[~is_kept]] = False
    return (vertices[stays], groups[stays], weights[stays]), len(many)
