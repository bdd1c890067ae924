"""Computes new weights for a character in a glTF file, or for a part of the character."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from ..base.arrays import Bools
from ..base.progress import Listener
from ..base.refusal import Refused
from ..character.mesh import Mesh, used_bones
from ..character.part_choices import with_choices
from ..features.check.lost import with_lost
from ..measures.standing import standing
from ..model.options import Options
from ..model.sparse_weights import SparseWeights, make_sparse_weights
from ..reports.report import make_report
from ..skeleton.poses import Poses
from ..skeleton.skeleton import Skeleton, hanging
from ..solvers.weigh import Weighed, weigh
from .character import Character


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

    def locked(self, character: Character) -> tuple[list[Mesh], Skeleton]:
        """The character's meshes, with locks on all that stays, and the skeleton, in which the
        bones of locked weights deform. Raises Refused for an unknown name, for vertices without
        weights to keep, and if nothing is left to weight."""
        meshes, skeleton = character.meshes, character.skeleton
        only, kept = (_bones(names, skeleton) for names in (self.only_bones, self.keep_bones))
        if self.only_bones:
            kept |= ~only
        names = [character.names_of(each) for each in character.skinned]
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


def poses_asked_for(character: Character, options: Options) -> Poses | None:
    """The poses that the options request from the character's animations."""
    if options.animation == "NONE":
        return None
    return character.poses(options.animation_frames).weighted(options.pose_weight)


def weigh_character(
    character: Character,
    options: Options,
    rigid: Sequence[Sequence[Any]] = (),
    threads: int = 0,
    progress: Listener | None = None,
    compares: bool = False,
    part: Part = Part(),
    parts: Sequence[Mapping[str, Any]] = (),
) -> tuple[Weighed, dict[str, Any]]:
    """Returns (new weights, report). rigid: for each mesh, the vertices of parts that keep their
    shape. compares: whether to add "compared", the result of standing(), to the report. part: the
    part of the character that gets new weights. parts: choices of bones for loose parts, see
    with_choices(). The document is not changed (see Character.write())."""
    meshes, skeleton = character.meshes, character.skeleton
    if not part.whole:
        meshes, skeleton = part.locked(character)
    if rigid:
        meshes = [
            replace(mesh, edits=replace(mesh.edits, rigid=list(parts)))
            for mesh, parts in zip(meshes, rigid, strict=True)
        ]
    try:
        meshes = with_choices(meshes, character.skeleton, parts)
    except ValueError as error:
        raise Refused(str(error)) from None
    found = weigh(
        meshes,
        skeleton,
        options,
        facts_of=character.facts,
        poses=poses_asked_for(character, options),
        threads=threads,
        progress=progress,
    )
    report = make_report(found.problem, found.solution, options, character.name)
    if compares:
        present = found.problem.present(meshes)
        deformation = report["deformation"]
        compared = standing(found.problem, present, deformation, options, threads)
        rows = found.solution.rows
        report["compared"] = with_lost(compared, found.problem, present, rows)
    if not part.whole:
        found.rows = [_beside_kept(*each) for each in zip(meshes, found.rows, strict=True)]
    return found, report


def _beside_kept(mesh: Mesh, rows: SparseWeights) -> SparseWeights:
    """The new rows of a mesh. Locked vertices have exactly the rows in the file."""
    old, kept = mesh.weights, mesh.locked_vertices
    stays = [kept[each.vertices] == is_old for each, is_old in ((rows, False), (old, True))]
    return make_sparse_weights(
        rows.count,
        *(
            np.concatenate([part[which] for part, which in zip(parts, stays, strict=True)])
            for parts in (
                (rows.vertices, old.vertices),
                (rows.bones, old.bones),
                (rows.weights, old.weights),
            )
        ),
    )
