"""Weights that were kept: all that is needed to give them to the mesh again, whatever becomes of
it; as bytes, for a property or a file. No bpy."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..base.arrays import Floats
from ..base.refusal import Refused
from ..character.sparse_weights import SparseWeights
from ..disk.outputs import Kind, write_content

HEAD = b"araplbs kept weights 1\n"
FILE = Kind("file of kept weights", "araplbs kept", re.compile(re.escape(HEAD)))


@dataclass
class KeptEdit:
    """One item of the edits of a mesh; see blender/data/edits.py."""

    name: str
    kind: str
    bone: str
    use: bool
    values: np.ndarray  # (n,) float32


@dataclass
class Kept:
    """Of one mesh, images of Mirror modifiers included. Places are in armature space."""

    name: str
    armature: str
    vertices: np.ndarray  # (n, 3)
    triangles: np.ndarray  # (f, 3)
    groups: list[str]  # all of its vertex groups
    rows: SparseWeights  # of these, as they are: sums are anything
    bones: list[str]  # the deform bones
    heads: np.ndarray  # (bones, 3)
    tails: np.ndarray
    edits: list[KeptEdit] = field(default_factory=list)

    @property
    def of_bones(self) -> np.ndarray:
        """(groups,) bool: those of deform bones."""
        return np.isin(self.groups, self.bones) if self.groups else np.zeros(0, bool)

    @property
    def size(self) -> float:
        return float(np.linalg.norm(np.ptp(self.vertices, axis=0)))


def pack(kept: Sequence[Kept]) -> bytes:
    """These as bytes; places and weights in single precision, as Blender has them."""
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


def unpack(content: bytes, where: str) -> list[Kept]:
    """What pack() got. Raises Refused for anything else; where: its name in the sentence."""
    if not content.startswith(HEAD):
        raise Refused(f"{where} holds no kept weights of this version")
    try:
        with np.load(io.BytesIO(content[len(HEAD) :]), allow_pickle=False) as arrays:
            about = json.loads(arrays["about"].tobytes())
            return [_kept(each, k, arrays) for k, each in enumerate(about)]
    except (ValueError, KeyError, TypeError, OSError, EOFError, zipfile.BadZipFile):
        raise Refused(f"{where} is damaged: its kept weights cannot be read") from None


def _kept(about: dict[str, Any], k: int, arrays: Any) -> Kept:
    ends = arrays[f"ends{k}"]
    rows = SparseWeights(
        arrays[f"start{k}"], arrays[f"group{k}"], arrays[f"weight{k}"].astype(np.float64)
    )
    values = arrays[f"edits{k}"]
    edits = [_edit(item, own) for item, own in zip(about["edits"], values, strict=True)]
    return Kept(
        about["name"],
        about["armature"],
        arrays[f"vertices{k}"].astype(np.float64),
        arrays[f"triangles{k}"],
        about["groups"],
        rows,
        about["bones"],
        ends[:, 0],
        ends[:, 1],
        edits,
    )


def _edit(item: Sequence[Any], values: Floats) -> KeptEdit:
    name, kind, bone, use = item
    return KeptEdit(name, kind, bone, use, values)


def write_kept(path: str | Path, kept: Sequence[Kept]) -> None:
    """A file of these, as a whole or not at all; replaces only files of its kind."""
    write_content(path, FILE, pack(kept))


def read_kept(path: str | Path) -> list[Kept]:
    """Raises Refused where there is no such file."""
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise Refused(f"'{path}' cannot be read: {error.strerror}") from None
    return unpack(content, f"'{path}'")
