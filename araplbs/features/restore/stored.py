"""Stores kept weights, with all data needed to restore them after any change to the mesh, as bytes
in a property or a file. This module does not use bpy."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ... import arrays as files
from ...base.arrays import Floats
from ...base.extent import size_of
from ...base.refusal import Refused
from ...disk.inputs import read_input
from ...disk.outputs import Kind, write_content
from ...model.sparse_weights import SparseWeights
from .stored_checks import ARRAYS, Odd, check_about, check_arrays, check_list, refused

HEAD = b"araplbs kept weights 1\n"
MOST = 1 << 31  # unpacked bytes: a mesh of ten million vertices takes half of this
FILE = Kind("file of kept weights", "araplbs kept", re.compile(re.escape(HEAD)))


@dataclass
class KeptEdit:
    """One item of the edits of a mesh. See blender/data/edits.py."""

    name: str
    kind: str
    bone: str
    use: bool
    values: np.ndarray  # (n,) float32


@dataclass
class Kept:
    """The kept data of one mesh, including images of Mirror modifiers. Positions are in armature
    space."""

    name: str
    armature: str
    vertices: np.ndarray  # (n, 3)
    triangles: np.ndarray  # (f, 3)
    groups: list[str]  # all its vertex groups
    rows: SparseWeights  # unchanged weights of these groups, with arbitrary sums
    bones: list[str]  # the deform bones
    heads: np.ndarray  # (bones, 3)
    tails: np.ndarray
    edits: list[KeptEdit] = field(default_factory=list)

    @property
    def of_bones(self) -> np.ndarray:
        """Returns (groups,) bool: the groups of deform bones."""
        return np.isin(self.groups, self.bones) if self.groups else np.zeros(0, bool)

    @property
    def bytes(self) -> int:
        """The memory used by the arrays."""
        arrays = [self.vertices, self.triangles, *self.rows, self.heads, self.tails]
        return sum(each.nbytes for each in arrays + [edit.values for edit in self.edits])

    @property
    def size(self) -> float:
        return size_of(self.vertices, self.triangles)


def pack(kept: Sequence[Kept]) -> bytes:
    """Packs the kept meshes into bytes, with positions and weights in single precision, as in
    Blender."""
    arrays: dict[str, np.ndarray] = {}
    about = []
    for k, each in enumerate(kept):
        arrays[f"vertices{k}"] = each.vertices.astype(np.float32)
        arrays[f"triangles{k}"] = each.triangles.astype(np.int32)
        arrays[f"start{k}"] = each.rows.start.astype(np.int64)
        arrays[f"group{k}"] = each.rows.bones.astype(np.int32)
        arrays[f"weight{k}"] = each.rows.weights.astype(np.float32)
        arrays[f"ends{k}"] = np.hstack([each.heads, each.tails]).reshape(-1, 2, 3)
        arrays[f"edits{k}"] = np.array([edit.values for edit in each.edits], np.float32).reshape(
            len(each.edits), len(each.vertices)
        )
        edits = [[edit.name, edit.kind, edit.bone, edit.use] for edit in each.edits]
        about.append(
            {
                **{"name": each.name, "armature": each.armature, "groups": each.groups},
                **{"bones": each.bones, "edits": edits},
            }
        )
    out = io.BytesIO()
    text = json.dumps(about).encode()
    np.savez_compressed(out, about=np.frombuffer(text, np.uint8), **arrays)  # type: ignore[arg-type]
    return HEAD + out.getvalue()


def unpack(content: bytes, where: str, most: int = MOST) -> list[Kept]:
    """Reverses pack(). Raises Refused for any other data and, before allocating memory, for content
    that would take more than `most` bytes. where: the name of the data in the message."""
    if not content.startswith(HEAD):
        raise Refused(f"{where} contains no kept weights of this version")
    try:
        arrays = files.read_arrays(io.BytesIO(content[len(HEAD) :]), most)
    except files.NotArrays as reason:
        raise Refused(f"{where} is damaged: its kept weights cannot be read: {reason}") from None
    name = None
    try:
        about = _about(arrays)
        check_list(about)
        found = []
        for k, each in enumerate(about):
            name = each.get("name")
            check_about(each)
            found.append(_kept(each, {key: _array(arrays, f"{key}{k}") for key in ARRAYS}))
        return found
    except Odd as reason:
        raise refused(where, name, reason) from None


def _array(arrays: dict[str, np.ndarray], name: str) -> np.ndarray:
    if name not in arrays:
        raise Odd(f"there is no '{name}'")
    return arrays[name]


def _about(arrays: dict[str, np.ndarray]) -> Any:
    """The file's description of its arrays. Raises Odd."""
    try:
        return json.loads(_array(arrays, "about").tobytes())
    except RecursionError:
        raise Odd("the list of meshes is nested too deeply") from None
    except ValueError as error:
        raise Odd(f"the list of meshes is not JSON: {error}") from None


def _kept(about: dict[str, Any], arrays: dict[str, np.ndarray]) -> Kept:
    """Builds the kept data. Raises Odd."""
    check_arrays(about, arrays)
    ends = arrays["ends"].astype(np.float64)
    rows = SparseWeights(
        arrays["start"].astype(np.int64),
        arrays["group"].astype(np.int32),
        arrays["weight"].astype(np.float64),
    )
    edits = [_edit(item, own) for item, own in zip(about["edits"], arrays["edits"], strict=True)]
    return Kept(
        about["name"],
        about["armature"],
        arrays["vertices"].astype(np.float64),
        arrays["triangles"].astype(np.int32),
        about["groups"],
        rows,
        about["bones"],
        ends[:, 0],
        ends[:, 1],
        edits,
    )


def _edit(item: Sequence[Any], values: Floats) -> KeptEdit:
    name, kind, bone, use = item
    return KeptEdit(name, kind, bone, use, values.astype(np.float32))


def write_kept(path: str | Path, kept: Sequence[Kept]) -> None:
    """Writes the kept weights to a file, completely or not at all. It may replace only files of the
    same kind."""
    write_content(path, FILE, pack(kept))


def read_kept(path: str | Path) -> list[Kept]:
    """Reads kept weights. Raises Refused if the file is missing or of a different type."""
    return unpack(read_input(path, MOST), f"'{path}'")
