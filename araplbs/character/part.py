"""Chooses the part of a character that gets new weights, and locks everything else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

import numpy as np

from ..base.arrays import Bools
from ..base.refusal import Refused
from ..model.sparse_weights import SparseWeights, merged
from ..skeleton.skeleton import Skeleton, hanging
from .mesh import Mesh, used_bones


@dataclass(frozen=True)
class Part:
    """The part of a character that gets new weights. All other weights stay the same.

    only_bones, keep_bones: names of bones, or patterns such as "*Hand*"; "LeftArm/" is a bone with
    all bones below it. keep_meshes: names of meshes or nodes. only_vertices: {name of a mesh or
    node: its vertices}, numbered as in the findings of a check.
    """

    only_bones: Sequence[str] = ()
    keep_bones: Sequence[str] = ()
    keep_meshes: Sequence[str] = ()
    only_vertices: Mapping[str, Sequence[int]] | None = field(default=None, hash=False)

    @property
    def whole(self) -> bool:
        return not (self.only_bones or self.keep_bones or self.keep_meshes) and (
            self.only_vertices is None
        )

    def locked(
        self, meshes: Sequence[Mesh], skeleton: Skeleton, names: Sequence[set[str]]
    ) -> tuple[list[Mesh], Skeleton]:
        """The meshes with locks on all that stays, and the skeleton, in which the bones of locked
        weights deform. names: of each mesh. Raises Refused for an unknown name, for vertices
        without weights to keep, and if nothing is left to weight."""
        only, kept = (_bones(named, skeleton) for named in (self.only_bones, self.keep_bones))
        if self.only_bones:
            kept |= ~only
        unknown = {*self.keep_meshes, *(self.only_vertices or ())} - set().union(*names)
        if unknown:
            raise Refused(f"has no skinned mesh '{min(unknown)}'")
        found = []
        for mesh, own in zip(meshes, names, strict=True):
            vertices = self._kept_vertices(mesh, own)
            bare = np.flatnonzero((mesh.weights.sums() <= 0) & (vertices | bool(self.only_bones)))
            if len(bare):
                raise Refused(f"'{mesh.name}' has vertices without weights (first: {bare[0]})")
            found.append(
                replace(mesh, locked_bones=kept if kept.any() else None, locked_vertices=vertices)
            )
        if kept.all() or all(mesh.locked_vertices.all() for mesh in found):
            raise Refused("has nothing to weight, because all of it is to be kept")
        needed = used_bones(meshes, skeleton) & kept
        for mesh in found:
            rows = mesh.weights
            needed[rows.bones[mesh.locked_vertices[rows.vertices]]] = True
        return found, replace(skeleton, taken_in=skeleton.taken_in | needed)

    def _kept_vertices(self, mesh: Mesh, names: set[str]) -> Bools:
        count = len(mesh.vertices)
        if names & set(self.keep_meshes):
            return np.ones(count, bool)
        if self.only_vertices is None:
            return np.zeros(count, bool)
        kept = np.ones(count, bool)
        for name in names & set(self.only_vertices):
            vertices = np.asarray(self.only_vertices[name], np.int64).reshape(-1)
            wrong = vertices[(vertices < 0) | (vertices >= count)]
            if len(wrong):
                raise Refused(f"'{name}' has no vertex {wrong[0]}, but {count} vertices")
            kept[vertices] = False
        return kept


WHOLE = Part()


def _bones(patterns: Sequence[str], skeleton: Skeleton) -> Bools:
    """Returns (m,) bool: the bones with these names. Raises Refused for an unknown one."""
    names = skeleton.names
    found = np.zeros(len(names), bool)
    for pattern in patterns:
        below = pattern.endswith("/") and pattern not in names
        plain = pattern[:-1] if below else pattern
        hit = np.array([name == plain or fnmatchcase(name, plain) for name in names])
        if not hit.any():
            raise Refused(f"has no joint '{plain}'")
        found |= hanging(skeleton.parents)[:, hit].any(axis=1) if below else hit
    return found


def beside_kept(mesh: Mesh, rows: SparseWeights) -> SparseWeights:
    """The new rows of a mesh. Locked vertices have exactly their old rows."""
    return merged(mesh.weights, rows, ~mesh.locked_vertices)
