"""Reads rigs in the .txt format that RigNet, Puppeteer, MagicArticulate and other networks write.
Each line has one of these forms:

  joints NAME X Y Z
  root NAME
  hier PARENT CHILD
  skin VERTEX NAME WEIGHT NAME WEIGHT ...

Vertex numbers refer to the .obj file of the mesh.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..base.arrays import Floats, Integers
from ..base.refusal import Refused
from ..disk.inputs import read_input_text
from ..model.sparse_weights import SparseWeights, make_sparse_weights
from ..skeleton.skeleton import bone_in_circle
from .file.accessors import FLOAT, add_accessor, new_accessor
from .file.container import Document

MOST_BYTES = 1 << 30
MOST_VERTICES = 1 << 31
WORDS = {"joints": 5, "root": 2, "hier": 3}


@dataclass
class RigText:
    """joints (m, 3). parents (m,): -1 for none. vertices, bones, weights: the entries of the
    weights, empty if the file does not contain any."""

    path: Path
    names: list[str]
    joints: Floats
    parents: np.ndarray
    vertices: Integers
    bones: Integers
    weights: Floats

    @property
    def count(self) -> int:
        """The number of vertices with weights, if the file has weights for all of them."""
        return int(self.vertices.max(initial=-1)) + 1

    def rows(self, count: int) -> SparseWeights:
        """The weights of the first vertices."""
        own = self.vertices < count
        return make_sparse_weights(count, self.vertices[own], self.bones[own], self.weights[own])

    def document(self) -> Document:
        """A glTF document with these joints and a skin, but without a mesh."""
        offsets = self.joints - np.where(
            self.parents[:, None] >= 0, self.joints[self.parents.clip(0)], 0.0
        )
        nodes: list[dict[str, Any]] = [
            {"name": name, "translation": place.tolist()}
            for name, place in zip(self.names, offsets, strict=True)
        ]
        for child, parent in enumerate(self.parents.tolist()):
            if parent >= 0:
                nodes[parent].setdefault("children", []).append(child)
        roots = np.flatnonzero(self.parents < 0).tolist()
        head = {
            "asset": {"version": "2.0"},
            "scene": 0,
            "scenes": [{"nodes": roots}],
            "nodes": nodes,
        }
        document = Document(self.path, head, True, [])
        to_joint = np.tile(np.eye(4), (len(self.names), 1, 1))
        to_joint[:, :3, 3] = -self.joints
        columns = to_joint.swapaxes(1, 2).reshape(-1, 16)
        matrices = add_accessor(
            document, new_accessor(document, columns, FLOAT, kind="MAT4", target=None)
        )
        joints = list(range(len(self.names)))
        head["skins"] = [{"name": "Armature", "joints": joints, "inverseBindMatrices": matrices}]
        return document


def read_rig_text(path: str | Path) -> RigText:
    """Reads the rig from a text file. Raises Refused with the line number."""
    names: dict[str, int] = {}
    places: list[list[float]] = []
    above: dict[str, str] = {}
    entries: list[tuple[int, str, float]] = []
    for number, line in enumerate(read_input_text(path, MOST_BYTES).splitlines(), 1):
        words = line.split()
        if not words:
            continue
        try:
            kind = words[0]
            if kind == "skin" and len(words) >= 2 and len(words) % 2 == 0:
                vertex = int(words[1])
                if not 0 <= vertex < MOST_VERTICES:
                    raise Refused(f"{path}, line {number}: has weights for vertex {words[1]}")
                pairs = zip(words[2::2], words[3::2], strict=True)
                entries += [(vertex, name, float(weight)) for name, weight in pairs]
            elif len(words) != WORDS.get(kind):
                raise ValueError
            elif kind == "joints":
                if words[1] in names:
                    raise Refused(f"{path}, line {number}: the joint '{words[1]}' occurs twice")
                names[words[1]] = len(names)
                places.append([float(word) for word in words[2:]])
            elif kind == "hier":
                above[words[2]] = words[1]
        except ValueError:
            raise Refused(
                f"{path}, line {number}: not a valid line of a rig (joints, root, hier or skin)"
            ) from None
    if not names:
        raise Refused(f"{path} has no joints: it is not a rig text file")
    used = {*above, *above.values(), *(name for _vertex, name, _weight in entries)}
    if unknown := sorted(used - set(names)):
        raise Refused(f"{path} refers to the joint '{unknown[0]}', which it does not contain")
    joints = np.array(places)
    if not np.isfinite(joints).all():
        raise Refused(f"{path} has a joint with a non-finite position")
    parents = np.array([names[above[name]] if name in above else -1 for name in names])
    bone = bone_in_circle(parents)
    if bone is not None:
        raise Refused(f"{path}: the joint '{list(names)[bone]}' is its own ancestor")
    vertices = np.array([vertex for vertex, _name, _weight in entries], np.int64)
    bones = np.array([names[name] for _vertex, name, _weight in entries], np.int64)
    values = np.array([weight for _vertex, _name, weight in entries], np.float64)
    if not np.isfinite(values).all() or (values < 0).any():
        raise Refused(f"{path} has weights that are negative or not finite")
    return RigText(Path(path), list(names), joints, parents, vertices, bones, values)
