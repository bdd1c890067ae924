"""Loads the characters of a glTF file. Each character is a skeleton with all meshes bound to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ..base.arrays import Bools, Floats, Integers
from ..base.extent import sides_of
from ..base.refusal import Refused
from ..character.mesh import Mesh
from ..model.sparse_weights import SparseWeights
from ..skeleton.bone_facts import BoneFacts
from ..skeleton.poses import Poses
from ..skeleton.skeleton import Skeleton
from .animations import Clip, poses_of, read_clips
from .armature import Armature, find_armatures, read_skins
from .facts import read_facts
from .file.container import Document, read_document
from .file.draco import decompress
from .meshes import SkinnedMesh, join_meshes, read_meshes
from .nodes import Nodes
from .write_skin import write_weights

Skinned = TypeVar("Skinned", bound=Any)  # a dataclass with a `mesh`
SAME_PLACE = 1e-6  # share of the size; vertices within this distance coincide
NO_SKIN = (
    "has no skin: no mesh is bound to joints. Use the joints of another file with --skeleton, "
    "or first bind the mesh to a skeleton with any weights"
)


class LoadedCharacter:
    """The part of a character that is the same in all file formats. skinned: for each mesh, an
    object with its `mesh`, the `names` under which it is known, and its `materials`, as pairs of a
    name and the vertices with it."""

    skinned: list[Any]
    doubts: Sequence[str] = ()  # sentences for the user about joints without valid bind matrices

    @property
    def meshes(self) -> list[Mesh]:
        return [each.mesh for each in self.skinned]

    @property
    def weights(self) -> list[SparseWeights]:
        """The current weights in the file."""
        return [each.mesh.weights for each in self.skinned]

    def changed(self, rows: Sequence[SparseWeights]) -> list[Bools]:
        """Returns [(n,) bool]: the vertices of each mesh whose new rows differ from those in the
        file."""
        return [new.differs_from(old) for new, old in zip(rows, self.weights, strict=True)]


@dataclass
class Character(LoadedCharacter):
    """A skeleton of the file and the meshes bound to it."""

    document: Document
    nodes: Nodes
    armature: Armature
    skinned: list[SkinnedMesh]

    @cached_property
    def clips(self) -> list[Clip]:
        """Its animations, read on first access."""
        return read_clips(self.document, self.armature.bones)

    @property
    def name(self) -> str:
        return self.armature.name

    @property
    def skeleton(self) -> Skeleton:
        return self.armature.skeleton

    def poses(self, most: int) -> Poses:
        """At most this many poses from its animations."""
        return poses_of(self.nodes, self.armature, self.clips, most)

    @property
    def doubts(self) -> list[str]:  # type: ignore[override]
        return [str(doubt) for skin in self.armature.skins for doubt in skin.doubts]

    def facts(self, skeleton: Skeleton) -> BoneFacts:
        """Facts about the bones in the file. skeleton: the skeleton that was read, possibly with
        other tails."""
        points = np.concatenate([mesh.vertices for mesh in self.meshes])
        return read_facts(self.nodes, self.armature, skeleton, points, lambda: self.clips)

    def write(
        self,
        rows: Sequence[SparseWeights],
        component: int | None = None,
        changed: Sequence[Bools] | None = None,
    ) -> None:
        """Stores SparseWeights of its meshes in the document without changing the file itself. See
        write_weights()."""
        write_weights(self.document, self.armature, self.skinned, rows, component, changed)


def rigid_parts(
    characters: Sequence[LoadedCharacter],
    materials: Sequence[str],
    names: Sequence[str],
    lacks: str = "has no",
) -> list[list[list[Integers]]]:
    """Returns [[[vertices of a rigid part]]], for each mesh of each character: everything in a mesh
    or node with one of these names, or with one of these materials. Raises Refused for a name that
    occurs nowhere, with the words `lacks`."""
    meshes = [mesh for character in characters for mesh in character.skinned]
    missing = sorted(set(materials) - {name for mesh in meshes for name, _own in mesh.materials})
    missing += sorted(set(names).difference(*(mesh.names for mesh in meshes)))
    if missing:
        raise Refused(f"{lacks} material or mesh '{missing[0]}'")
    return [
        [
            [np.arange(len(mesh.mesh.vertices))]
            if mesh.names & set(names)
            else [own for name, own in mesh.materials if name in materials and len(own)]
            for mesh in character.skinned
        ]
        for character in characters
    ]


def load_characters(path: str | Path) -> list[Character]:
    """Loads all characters of a file. They share its document. Raises Refused."""
    return characters_of(read_document(path))


def characters_of(document: Document) -> list[Character]:
    decompress(document)
    nodes = Nodes(document)
    found = []
    for armature in find_armatures(document, nodes, read_skins(document)):
        skinned = read_meshes(document, nodes, armature)
        if skinned:
            found.append(Character(document, nodes, armature, welded(skinned)))
    if not found:
        raise Refused(NO_SKIN)
    return found


def welded(skinned: list[Skinned]) -> list[Skinned]:
    """Moves vertices that coincide up to rounding to exactly the same position, because the solver
    treats them as one point."""
    if len(skinned) < 2:
        return skinned
    points, triangles, begins = join_meshes([each.mesh for each in skinned])
    size = float(sides_of(points, triangles).max()) or 1.0
    label = _labels(points, SAME_PLACE * size)
    first = np.full(label.max() + 1, -1)
    order = np.arange(len(points))[::-1]
    first[label[order]] = order
    points = points[first[label]]
    parts = np.split(points, begins[1:-1])
    return [
        replace(each, mesh=replace(each.mesh, vertices=vertices))
        for each, vertices in zip(skinned, parts, strict=True)
    ]


def _labels(points: Floats, step: float) -> Any:
    """Labels (n,) that are equal for points in the same cell of this size. Two grids, offset by
    half a cell, are used."""
    label = np.arange(len(points))
    for shift in (0.0, 0.5):
        cells = np.floor(points / step + shift).astype(np.int64)
        _each, place = np.unique(cells, axis=0, return_inverse=True)
        place = place.ravel()
        least = np.full(place.max() + 1, len(points))
        np.minimum.at(least, place, label)
        label = least[place]
    return label
