"""Restores kept weights to the current mesh. This module contains the options and the work, and
does not use bpy."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...base.arrays import Floats, Integers
from ...base.engine import engine
from ...base.extent import size_of
from ...base.option_table import OptionTable, option, option_of
from ...base.progress import Listener, Progress
from ...base.refusal import Refused
from ...character.mesh import Mesh
from ...character.problem import plain_geometry
from ...model.sparse_weights import SparseWeights, all_entries
from ...reports.report import names_in_line
from ...skeleton.skeleton import Skeleton
from ..transfer.options import TransferOptions
from .stored import Kept, KeptEdit

NEAR = 1e-3  # share of the kept mesh's size; vertices this close match in any direction
# A mesh derives from a kept mesh if the share COVERED of its vertices is within this distance,
# relative to its size.
COVERED, COVERED_WITHIN = 0.5, 5e-3
SAME_PLACE = 1e-3  # share of the skeleton size; a bone within this distance is the same, renamed
LEAST = 1e-6  # smaller weights are rounding errors
NEARLY_ALL_LOST = 0.1  # of the weight of a vertex, the share of bones that still exist
FILE = option(
    "",
    "File",
    "File for the kept weights, for example next to the .blend file (//body.kept). If empty, "
    "the weights are stored in the armature and saved with the .blend file",
    path=True,
)


@dataclass(frozen=True)
class KeepOptions(OptionTable):
    """The options of Keep Weights."""

    file: str = FILE


@dataclass(frozen=True)
class RestoreOptions(OptionTable):
    """The options of Restore Weights."""

    file: str = FILE
    distance: float = option_of(TransferOptions, "distance")
    angle: float = option_of(TransferOptions, "angle", math.pi)  # a remesh has the same surface


def opposite_groups(groups: Sequence[str], skeleton: Skeleton) -> Integers:
    """(groups,) the group of the opposite bone, or the group itself if its bone has no opposite."""
    place = {name: k for k, name in enumerate(groups)}
    bone = {name: k for k, name in enumerate(skeleton.names)}
    other = [skeleton.names[skeleton.opposite[bone[n]]] if n in bone else n for n in groups]
    return np.array([place.get(name, k) for k, name in enumerate(other)], int)


@dataclass
class Now:
    """A current mesh."""

    mesh: Mesh
    locked: dict[str, Floats]  # weights (n,) of each locked vertex group


@dataclass
class Restored:
    """The result for one mesh."""

    sources: list[str]  # the kept meshes it derives from
    groups: list[str]
    of_bones: np.ndarray  # (groups,) bool
    rows: SparseWeights  # the weights of these groups
    edits: list[KeptEdit]
    matched: np.ndarray  # (n,) bool
    renamed: dict[str, str]  # {earlier bone: current bone}
    gone: dict[str, float]  # {earlier bone: its share of all weight}


def restore(
    kept: Sequence[Kept],
    meshes: Sequence[Now],
    skeleton: Skeleton,
    options: RestoreOptions,
    threads: int = 0,
    progress: Listener | None = None,
) -> list[Restored]:
    """Returns the Restored of each mesh.

    Raises Refused if nothing matches, and araplbs.Cancelled when progress (a Listener) stops it.
    """
    progress, count = Progress.of(progress), len(meshes)
    return [
        _restore(kept, now, skeleton, options, threads, progress.part(k / count, 1 / count))
        for k, now in enumerate(meshes)
    ]


def _restore(
    kept: Sequence[Kept],
    now: Now,
    skeleton: Skeleton,
    options: RestoreOptions,
    threads: int,
    progress: Progress,
) -> Restored:
    mesh = now.mesh
    points, triangles, edges = plain_geometry([mesh]).values()
    chosen = sources_of(kept, mesh.name, points, triangles, threads)
    given = _Joined(chosen, skeleton)
    scale, rows = given.columns()
    try:
        found, matched, _distances, _angles = engine.transfer_weights(
            given.vertices,
            given.triangles,
            tuple(rows),
            points,
            triangles,
            target_edges=edges,
            threads=threads,
            progress=progress.part(0, 1),
            **options.engine_arguments("match_surfaces"),
            near=NEAR,
        )
    except ValueError as error:
        names = names_in_line([f"'{each.name}'" for each in chosen])
        raise Refused(
            f"'{mesh.name}' cannot take weights from the kept {names}: {error}. Has the mesh moved?"
        ) from None
    found = SparseWeights(*found)
    found = found._replace(weights=found.weights * scale)
    edits = given.edits(found, points)
    weights = found.of((found.bones < len(given.groups)) & (found.weights > LEAST))
    limited = weights.cut_down(given.most, ~given.of_bones[weights.bones])
    return Restored(
        [each.name for each in chosen],
        given.groups,
        given.of_bones,
        _beside_locked(limited, given, now),
        edits,
        matched,
        given.renamed,
        given.gone,
    )


def kept_for(armature: str, others: Collection[str], kept: Sequence[Kept]) -> list[Kept]:
    """The kept meshes of one armature, if a file contains meshes of several armatures. The meshes
    are found by the armature's name or, if it has been renamed, by excluding the meshes of all
    armatures that still exist (`others`)."""
    own = [each for each in kept if each.armature == armature]
    return own or [each for each in kept if each.armature not in others] or list(kept)


def sources_of(
    kept: Sequence[Kept], name: str, points: Floats, triangles: Integers, threads: int = 0
) -> list[Kept]:
    """The kept meshes from which a mesh derives: the kept meshes that it covers, and the one with
    its name. A part that was split off covers no kept mesh, so it derives from the one that has its
    name without the number, or else from all."""
    chosen = []
    for each in kept:
        near = np.zeros(1, bool)
        if len(triangles):
            distances = engine.match_surfaces(
                points, triangles, each.vertices, each.triangles, threads=threads
            )[1]
            near = distances <= COVERED_WITHIN * each.size
        if each.name == name or near.mean() >= COVERED:
            chosen.append(each)
    stem = name.rpartition(".")[0] if name.rpartition(".")[2].isdigit() else name
    return chosen or [each for each in kept if each.name == stem] or list(kept)


class _Joined:
    """Kept meshes combined into one, with groups under the current bone names."""

    def __init__(self, kept: Sequence[Kept], skeleton: Skeleton) -> None:
        self.kept = kept
        self.renamed, self.gone = _bones_now(kept, skeleton)
        groups: dict[str, bool] = {}  # {group: whether it belongs to a bone}
        for each in kept:
            for name, of_bone in zip(each.groups, each.of_bones, strict=True):
                if name not in self.gone:
                    groups.setdefault(self.renamed.get(name, name), bool(of_bone))
        self.groups, self.of_bones = list(groups), np.array(list(groups.values()), bool)
        place = {name: k for k, name in enumerate(groups)}
        first, parts, triangles, lost = 0, [], [], []
        self.most = 1
        for mesh in kept:
            here = [place.get(self.renamed.get(name, name), -1) for name in mesh.groups]
            vertices, bones, weights = mesh.rows.columns
            group, of_bone = np.array([*here, -1])[bones], mesh.of_bones[bones]
            stays, count = group >= 0, len(mesh.vertices)
            before = _sums(vertices, weights * of_bone, count)
            after = _sums(vertices, weights * (of_bone & stays), count)
            lost.append((after < NEARLY_ALL_LOST * before) & (before > 0))
            share = np.divide(before, after, out=np.ones(count), where=after > 0)[vertices]
            scaled = np.where(of_bone, weights * share, weights)  # for the lost bones
            parts.append((vertices[stays] + first, group[stays], scaled[stays]))
            counts = np.bincount(vertices[of_bone & stays & (weights > 0)], minlength=1)
            self.most = max(self.most, int(counts.max()))
            triangles.append(mesh.triangles + first)
            first += count
        self.vertices = np.concatenate([mesh.vertices for mesh in kept])
        self.rows = all_entries(first, *parts)
        joined = np.concatenate(triangles)
        self.triangles = joined[~np.concatenate(lost)[joined].any(1)]
        if not len(self.triangles):
            names = names_in_line([f"'{bone}'" for bone in self.gone])
            raise Refused(f"None of the bones that had weight still exist: {names}")

    def columns(self) -> tuple[float, SparseWeights]:
        """Returns (scale, rows that sum to 1). The columns of the rows are the groups, the edits,
        and the remainder, as shares of the scale."""
        parts, next_column, count = [self.rows.columns], len(self.groups), len(self.vertices)
        for first, edit in self._edits():
            for values in _columns_of(edit):
                where = np.flatnonzero(values)
                parts.append((where + first, np.full(len(where), next_column), values[where]))
                next_column += 1
        given = all_entries(count, *parts)
        sums = given.sums()
        # a power of 2, so weights keep their bits
        scale = float(2.0 ** np.ceil(np.log2(max(sums.max(initial=0), 1))))
        given = given._replace(weights=given.weights / scale)
        rest = np.arange(count), np.full(count, next_column), np.maximum(1 - sums / scale, 0)
        return scale, all_entries(count, given.columns, rest)

    def _edits(self) -> list[tuple[int, KeptEdit]]:
        """Returns [(first vertex, edit)] for edits whose bones still exist."""
        found, first = [], 0
        for each in self.kept:
            for edit in each.edits:
                if edit.bone not in self.gone:
                    bone = self.renamed.get(edit.bone, edit.bone)
                    found.append((first, replace(edit, bone=bone)))
            first += len(each.vertices)
        return found

    def edits(self, found: SparseWeights, points: Floats) -> list[KeptEdit]:
        """The weights of a mesh with these columns."""
        column, out = len(self.groups), []
        for first, edit in self._edits():
            values = []
            for _ in _columns_of(edit):
                own = found.bones == column
                values.append(_sums(found.vertices[own], found.weights[own], found.count))
                column += 1
            now = _values_of(edit.kind, values)
            ends = np.flatnonzero(edit.values) + first
            if edit.kind == "LINK" and len(ends) == 2:
                now = np.zeros(len(points))
                now[[np.linalg.norm(points - self.vertices[e], axis=1).argmin() for e in ends]] = 1
            if now.any() and (edit.kind != "LINK" or np.count_nonzero(now) == 2):
                out.append(replace(edit, values=now.astype(np.float32)))
        return out


def _columns_of(edit: KeptEdit) -> list[Floats]:
    """The parts of an edit that can be interpolated: its positions and values; none for a link."""
    values = edit.values.astype(np.float64)
    if edit.kind == "LINK":
        return []
    if edit.kind == "INFLUENCE":
        return [np.maximum(values, 0), np.maximum(-values, 0)]
    mask = (values > 0).astype(np.float64)
    return [mask, mask * values] if edit.kind in {"WEIGHT", "SMOOTH"} else [mask]


def _values_of(kind: str, columns: list[Floats]) -> Floats:
    """Converts columns back to the values of an edit, at vertices where its share exceeds one
    half."""
    if not columns:
        return np.zeros(0)
    if kind == "INFLUENCE":
        return np.where(columns[0] > 0.5, 1.0, 0.0) - np.where(columns[1] > 0.5, 1.0, 0.0)
    here = columns[0] > 0.5
    if len(columns) == 1:
        return here.astype(np.float64)
    return np.where(here, columns[1] / np.where(here, columns[0], 1), 0)


def _sums(vertices: Integers, weights: Floats, count: int) -> Floats:
    # NumPy's stubs declare integers, even with weights.
    return np.bincount(vertices, weights, count)  # type: ignore[return-value]


def _bones_now(kept: Sequence[Kept], skeleton: Skeleton) -> tuple[dict[str, str], dict[str, float]]:
    """Returns ({bone: its current name}, {removed bone: its share of the weight}) for bones with
    weight that have been renamed or removed."""
    ends = np.hstack([skeleton.heads, skeleton.tails])
    names = {name for name, deform in zip(skeleton.names, skeleton.deform, strict=True) if deform}
    tolerance = SAME_PLACE * size_of(ends.reshape(-1, 3))
    renamed: dict[str, str] = {}
    weights: dict[str, float] = {}
    total = 0.0
    for each in kept:
        sums = np.bincount(each.rows.bones, each.rows.weights, len(each.groups))
        total += float(sums[each.of_bones].sum())
        known = {*each.bones, *renamed.values()}
        free = [k for k, name in enumerate(skeleton.names) if name in names and name not in known]
        for group, weight in zip(each.groups, sums, strict=True):
            if group not in each.bones or group in names or group in renamed:
                continue
            own = each.bones.index(group)
            off = np.abs(ends[free] - np.append(each.heads[own], each.tails[own])).max(axis=1)
            if len(free) and off.min() <= tolerance:
                renamed[group] = skeleton.names[free.pop(int(off.argmin()))]
            else:
                weights[group] = weights.get(group, 0.0) + float(weight)
    return renamed, {name: weight / max(total, 1e-30) for name, weight in weights.items()}


def _beside_locked(rows: SparseWeights, given: _Joined, now: Now) -> SparseWeights:
    """Excludes the locked groups, and scales the other bones' weights to leave room for the locked
    weights."""
    if not now.locked:
        return rows
    rest = rows.of_bones(~np.isin(given.groups, list(now.locked)))
    bones = {name for name, of in zip(given.groups, given.of_bones, strict=True) if of}
    taken = sum((own for name, own in now.locked.items() if name in bones), np.zeros(rows.count))
    if taken.any():
        of_bone = given.of_bones[rest.bones]
        sums = _sums(rest.vertices, rest.weights * of_bone, rest.count)
        room = np.where(sums > 0, np.clip(1 - taken, 0, 1) / np.where(sums > 0, sums, 1), 1)
        share = np.where(of_bone, room[rest.vertices], 1)
        rest = rest._replace(weights=rest.weights * share)
    return rest.of(rest.weights > 0)
