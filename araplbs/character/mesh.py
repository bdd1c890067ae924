"""Defines a mesh of a character as arrays in the rest pose."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from ..base.affine import moved
from ..base.arrays import Bools, Floats, Integers
from ..model.deformer import Deformer
from ..model.edits import Edits, Pairs
from ..model.sparse_weights import SparseWeights
from ..skeleton.skeleton import Skeleton
from .mirror_modifier import Reflection


@dataclass
class Mesh:
    """A mesh of n vertices before any deformation."""

    name: str
    vertices: np.ndarray  # (n, 3) in its own space
    triangles: np.ndarray  # (f, 3)
    edges: np.ndarray  # (e, 2) edges without faces
    matrix: np.ndarray  # (4, 4) to armature space
    reflections: list[Reflection] = field(default_factory=list)
    weights: SparseWeights | None = None  # current weights; required if something is locked
    locked_bones: np.ndarray | None = None  # (m,) bool: bones with locked weights
    locked_vertices: np.ndarray | None = None  # (n,) bool: vertices with locked weights
    edits: Edits = field(default_factory=Edits)
    held_on: int = -1  # the bone that the whole mesh follows according to its edits; -1: none
    # values as in edits.influences; see coincident_bones.py
    doubles: Pairs = field(default_factory=Pairs)
    deformer: Deformer | None = None  # None: linear blending by vertex groups

    @property
    def points(self) -> Floats:
        """The vertices in armature space, (n, 3)."""
        return moved(self.vertices, self.matrix)

    @property
    def vertex_locks(self) -> Bools:
        """The locked vertices, (n,) bool."""
        none = np.zeros(len(self.vertices), bool)
        return none if self.locked_vertices is None else self.locked_vertices

    @property
    def has_locks(self) -> bool:
        """Whether some of the current weights are locked."""
        return any(
            lock is not None and lock.any() for lock in (self.locked_bones, self.locked_vertices)
        )


OVERFULL = 1e-3  # a sum above 1 by more than this is not a rounding error


def places_of(points: Floats) -> Integers:
    """The number of the position of each point (n, 3), which is equal for coincident points."""
    order = np.lexsort(points.T[::-1])
    ordered, places = points[order], np.zeros(len(order), int)
    places[order[1:]] = np.cumsum((ordered[1:] != ordered[:-1]).any(axis=1))
    return places


def overfull_warning(mesh: Mesh) -> list[str]:
    """A message about vertices whose locked groups exceed the total weight: [] or [sentence]."""
    if mesh.locked_bones is None or mesh.weights is None:
        return []
    rows = mesh.weights
    locked = rows.weights * mesh.locked_bones[rows.bones]
    count = int((np.bincount(rows.vertices, locked, rows.count) > 1 + OVERFULL).sum())
    which = "1 vertex has" if count == 1 else f"{count} vertices have"
    words = (
        f"{which} a total weight above 1 in locked groups, which leaves no weight for other "
        "bones there"
    )
    return [f"'{mesh.name}': {words}"] if count else []


def unweighted_warning(count: int | None) -> list[str]:
    """A message about vertices without weights, if weights start from the present ones: [] or
    [sentence]."""
    which = "1 vertex has" if count == 1 else f"{count} vertices have"
    return [f"{which} no weights yet, and fresh weights are computed"] if count else []


def used_bones(meshes: Iterable[Mesh], skeleton: Skeleton) -> Bools:
    """Returns (m,) bool: the bones that have weights in these meshes."""
    used = np.zeros(len(skeleton.names), bool)
    for mesh in meshes:
        if mesh.weights is not None:
            used[mesh.weights.bones[mesh.weights.weights > 0]] = True
    return used


def selection(mesh: Mesh, skeleton: Skeleton) -> tuple[Bools, Bools, Bools]:
    """The data written for a mesh: (bones with groups, bones with weights, vertices), all bool."""
    bones = skeleton.deform | skeleton.left_out  # else, their old weights would deform the mesh
    if mesh.locked_bones is not None:
        bones &= ~mesh.locked_bones
    groups = bones & skeleton.deform
    groups |= followed_by_images(mesh, skeleton, bones)
    return groups, bones, ~mesh.vertex_locks


def followed_by_images(mesh: Mesh, skeleton: Skeleton, written: Bools) -> Bools:
    """The bones (m,) that images of Mirror modifiers follow if these bones are written. The images
    need groups to follow, even empty ones."""
    if not any(reflection.flip for reflection in mesh.reflections):
        return np.zeros(len(written), bool)
    return written[skeleton.opposite] & skeleton.deform
