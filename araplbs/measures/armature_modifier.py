"""Reproduces Blender's deformation beyond linear blending (Preserve Volume and envelopes), and
measures the result."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..base.arrays import Floats, Integers
from ..base.engine import engine
from ..base.progress import Listener, Progress
from ..base.refusal import Refused
from ..character.problem import Problem
from ..model.deformer import Deformer, Envelopes
from ..model.options import Options
from ..model.sparse_weights import (
    SparseWeights,
    all_entries,
    join_sparse_weights,
    make_sparse_weights,
)
from ..skeleton.poses import BENDY, Poses
from ..skeleton.skeleton import Skeleton
from .deformation import as_report, deformation_of, joints_of, measure
from .energy import energy

LEAST_SUM = 1e-4  # sum of a vertex's weights; at or below this, Blender does not move the vertex
MOST_POINTS = 2_000_000  # maximum memory of posed points: 48 MB


def falloff(skeleton: Skeleton, envelopes: Envelopes, bones: Integers, points: Floats) -> Floats:
    """Influences (k,) of these bones (k,) on points (k, 3): 1 inside an envelope, 0 beyond its
    distance."""
    heads, tails = skeleton.heads[bones], skeleton.drawn_tails[bones]
    lengths = np.linalg.norm(tails - heads, axis=1)
    axes = (tails - heads) / np.where(lengths > 0, lengths, 1)[:, None]
    height = np.einsum("kc,kc->k", points - heads, axes)
    along = np.clip(height / np.where(lengths > 0, lengths, 1), 0, 1)
    nearest = heads + (along * lengths)[:, None] * axes
    away = np.linalg.norm(points - nearest, axis=1)
    radius = (1 - along) * envelopes.head_radius[bones] + along * envelopes.tail_radius[bones]
    distance = envelopes.distance[bones]
    outside = (away - radius) / np.where(distance > 0, distance, np.inf)
    return np.where(
        away < radius, 1.0, np.where((distance > 0) & (outside < 1), 1 - outside**2, 0.0)
    )


def effective_rows(
    rows: SparseWeights, points: Floats, skeleton: Skeleton, deformer: Deformer
) -> SparseWeights:
    """The SparseWeights with which the modifier deforms vertices at points (n, 3) in armature
    space. A row whose weights are too small to move the vertex is empty."""
    envelopes, n = deformer.envelopes, rows.count
    vertices, bones, weights = rows.vertices, rows.bones, rows.weights
    if not deformer.use_groups:
        vertices, bones, weights = vertices[:0], bones[:0], weights[:0]
    grouped = np.bincount(vertices, minlength=n) > 0
    if envelopes.multiply[bones].any():
        factor = falloff(skeleton, envelopes, bones, points[vertices])
        weights = weights * np.where(envelopes.multiply[bones], factor, 1)
    if deformer.use_envelopes and not grouped.all():
        able = np.flatnonzero(skeleton.deform & (envelopes.weight > 0))
        left = np.repeat(np.flatnonzero(~grouped), len(able))
        each = np.tile(able, np.count_nonzero(~grouped))
        factor = falloff(skeleton, envelopes, each, points[left])
        weights = np.concatenate([weights, factor * envelopes.weight[each]])
        vertices, bones = np.concatenate([vertices, left]), np.concatenate([bones, each])
    made = make_sparse_weights(n, vertices, bones, weights)
    return made.of((made.sums() > LEAST_SUM)[made.vertices] & (made.weights > 0))


def orthonormal_axes(y: Floats, z: Floats) -> Floats:
    """Axes X, Y and Z as columns, (m, 3, 3), from Y (m, 3) of any length, even 0, and Z (m, 3)."""
    lengths = np.linalg.norm(y, axis=1, keepdims=True)
    z = z / np.linalg.norm(z, axis=1, keepdims=True)
    across = np.eye(3)[np.abs(z).argmin(axis=1)]  # for bones of length zero
    y = np.where(lengths > 0, y / np.where(lengths > 0, lengths, 1), across)
    y = y - np.einsum("mc,mc->m", y, z)[:, None] * z  # tolerance for rounding
    y /= np.linalg.norm(y, axis=1, keepdims=True)
    return np.stack([np.cross(y, z), y, z], axis=2)


class Columns:
    """The transforms that vertices blend: one per bone or, for a bendy bone, one per joint.

    The columns are in the order of the bones, because the result of dual quaternions depends on it.
    """

    def __init__(self, skeleton: Skeleton) -> None:
        self.skeleton = skeleton
        self.bendy = np.array([kind == BENDY for kind in skeleton.kinds], bool)
        sizes = np.where(self.bendy, skeleton.segments + 1, 1)
        self.first = np.cumsum(sizes) - sizes  # (m,) number of columns of each bone
        of_joints = np.repeat(self.bendy, sizes)
        # (columns,) the index of each column in the list of all bones followed by all joints.
        self.source = np.repeat(np.arange(len(sizes)), sizes)
        self.source[of_joints] = len(sizes) + np.arange(np.count_nonzero(of_joints))

    def transforms(self, poses: Poses) -> Floats:
        """The transforms in Poses, (p, columns, 3, 4)."""
        if not self.bendy.any():
            return poses.transforms
        return np.concatenate([poses.transforms, poses.joints], axis=1)[:, self.source]

    def axes(self) -> Floats:
        """Local axes X, Y and Z at rest as columns, (columns, 3, 3)."""
        skeleton = self.skeleton
        own = orthonormal_axes(skeleton.drawn_tails - skeleton.heads, skeleton.roll_axes)
        if not self.bendy.any():
            return own
        joints = orthonormal_axes(skeleton.joint_axes[:, :, 1], skeleton.joint_axes[:, :, 2])
        return np.concatenate([own, joints])[self.source]

    def expand(
        self, rows: SparseWeights, points: Floats, parameters: Floats | None = None
    ) -> SparseWeights:
        """Converts SparseWeights of bones to those of columns, for vertices at points (n, 3).
        parameters (n, m): positions along bones, NaN for linear bones; None if all bones are
        linear."""
        bendy = self.bendy[rows.bones]
        if not bendy.any():
            return rows._replace(bones=self.first[rows.bones].astype(np.int32))
        vertices, bones = rows.vertices[bendy], rows.bones[bendy]
        along = self.skeleton.drawn_tails[bones] - self.skeleton.heads[bones]
        height = np.einsum("kc,kc->k", points[vertices] - self.skeleton.heads[bones], along)
        place = np.clip(height / np.einsum("kc,kc->k", along, along), 0, 1)
        if parameters is not None:
            given = parameters[vertices, bones]
            place = np.where(np.isnan(given), place, given)
        at = place * self.skeleton.segments[bones]
        segment = np.minimum(at.astype(int), self.skeleton.segments[bones] - 1)
        column = self.first[rows.bones]
        column[bendy] += segment
        share = np.zeros(len(column))  # weight of the next joint
        share[bendy] = at - segment
        return all_entries(
            rows.count,
            (rows.vertices, column, rows.weights * (1 - share)),
            (vertices, column[bendy] + 1, (rows.weights * share)[bendy]),
        )


def blend_linearly(points: Floats, rows: SparseWeights, poses: Floats) -> Floats:
    """Points (n, 3) moved by linear blending, (p, n, 3). Points without weights stay in place.
    poses (p, m, 3, 4)."""
    posed = np.repeat(points[None], len(poses), 0)
    sums = rows.sums()
    moved = np.flatnonzero(sums > 0)
    if not len(moved):
        return posed
    at = points[rows.vertices]
    for out, pose in zip(posed, poses, strict=True):
        each = np.einsum("krc,kc->kr", pose[rows.bones, :3, :3], at) + pose[rows.bones, :3, 3]
        blended = np.add.reduceat(each * rows.weights[:, None], rows.start[moved])
        out[moved] = blended / sums[moved, None]
    return posed


def blend_dense(points: Floats, weights: Floats, pose: Floats) -> Floats:
    """Points (n, 3) moved by linear blending with dense weights (n, m) in one pose (m, 3, 4)."""
    blended = (weights @ pose.reshape(len(pose), 12)).reshape(-1, 3, 4)
    return np.einsum("nrc,nc->nr", blended[..., :3], points) + blended[..., 3]


def pose_points(
    points: Floats,
    rows: SparseWeights,
    transforms: Floats,
    columns: Columns,
    deformer: Deformer | None,
    threads: int = 0,
) -> Floats:
    """Points (n, 3) moved by the modifier, (p, n, 3). rows: effective_rows(), expanded by the
    Columns, which also give the transforms. A deformer of None blends linearly."""
    used, bones = np.unique(rows.bones, return_inverse=True)  # film rigs have thousands of bones
    if not len(used):
        return blend_linearly(points, rows, transforms)
    own, some = tuple(rows._replace(bones=bones.astype(np.int32))), transforms[:, used]
    if deformer is None or not deformer.preserve_volume:
        return engine.linear_skinning(points, own, some, threads=threads)
    axes = columns.axes()[used]  # columns stay in the order of the bones
    return engine.dual_quaternion_skinning(points, own, some, bone_axes=axes, threads=threads)


def _parts(
    problem: Problem, rows: SparseWeights
) -> list[tuple[Floats, SparseWeights, Deformer | None]]:
    """Returns [(points, effective SparseWeights, Deformer or None)] for the meshes of a problem."""
    points = problem.arguments["vertices"]
    parts = []
    for begin, end, deformer in zip(
        problem.first[:-1], problem.first[1:], problem.deformers, strict=True
    ):
        own = rows.slice(begin, end)
        if deformer:
            own = effective_rows(own, points[begin:end], problem.skeleton, deformer)
        parts.append((points[begin:end], own, deformer))
    return parts


def _joined(parts: list[tuple[Floats, SparseWeights, Deformer | None]]) -> SparseWeights:
    return join_sparse_weights([rows for _points, rows, _deformer in parts])


def _energy(problem: Problem, poses: Poses, posed: Floats, threads: int) -> float:
    """The weighted sum of the energies of posed points (p, n, 3) over these Poses."""
    arguments, weight = problem.arguments, poses.all_weights.sum()
    if not weight:  # none of these poses count
        return 0.0
    return weight * engine.posed_energy(
        arguments["vertices"],
        arguments["triangles"],
        posed,
        edges=arguments["edges"],
        threads=threads,
        **poses.weight_arguments,
    )


def judged(
    problem: Problem,
    rows: SparseWeights,
    poses: Poses,
    threads: int = 0,
    progress: Listener | None = None,
    with_energy: bool = True,
    **wanted: bool,
) -> tuple[dict[str, Any], float]:
    """Returns (araplbs.deformation for a Problem, the relative energy) in these Poses with
    Blender's deformation. with_energy: whether the energy is asked for. wanted: per_vertex or
    per_triangle."""
    parts, total = _parts(problem, rows), 0.0
    if not _preserves_volume(problem):
        effective = _joined(parts)
        more = {"threads": threads, "progress": Progress.of(progress), **wanted}
        measures = measure(problem, effective, poses, **more)
        return measures, energy(problem, effective, poses, threads=threads) if with_energy else 0.0
    seen = deformation_of(problem, threads)
    for some, posed in _posed(problem, parts, poses, threads, progress):
        seen.add(posed, some.transforms, **joints_of(problem.skeleton, some))
        total += _energy(problem, some, posed, threads) if with_energy else 0.0
    return seen.measures(**wanted), total / poses.all_weights.sum() if len(poses) else 0.0


def _preserves_volume(problem: Problem) -> bool:
    return any(deformer and deformer.preserve_volume for deformer in problem.deformers)


def _posed(
    problem: Problem,
    parts: list[tuple[Floats, SparseWeights, Deformer | None]],
    poses: Poses,
    threads: int,
    progress: Listener | None,
) -> Iterator[tuple[Poses, Floats]]:
    """Yields (some Poses, points (p, n, 3) of all parts in them), a few poses at a time."""
    progress, columns = Progress.of(progress), Columns(problem.skeleton)
    expanded = [
        (points, columns.expand(own, points, _slice(problem.parameters, *ends)), deformer)
        for (points, own, deformer), *ends in zip(
            parts, problem.first[:-1], problem.first[1:], strict=True
        )
    ]
    step = max(1, MOST_POINTS // max(1, problem.first[-1]))
    for first in range(0, len(poses), step):
        some = poses[first : first + step]
        transforms = columns.transforms(some)
        posed = [
            pose_points(points, own, transforms, columns, deformer, threads)
            for points, own, deformer in expanded
        ]
        yield some, np.concatenate(posed, axis=1)
        progress.check("posing", (first + len(some)) / len(poses))


def vertex_strain(problem: Problem, rows: SparseWeights, poses: Poses, threads: int = 0) -> Floats:
    """Surface Strain around each vertex over these Poses with Blender's deformation, (vertices of
    the problem,): the area-weighted root mean square over its faces; 0.1 is 10 %."""
    found = judged(problem, rows, poses, threads, with_energy=False, per_vertex=True)[0]
    return found["vertex_strain"]


def _slice(parameters: Floats | None, begin: int, end: int) -> Floats | None:
    return None if parameters is None else parameters[begin:end]


def _differs(problem: Problem, rows: SparseWeights) -> bool:
    """Whether Blender's deformation with these weights is not linear."""
    if _preserves_volume(problem):
        return True
    return any(problem.deformers) and bool(_joined(_parts(problem, rows)).differs_from(rows).any())


def refuse_deformer(options: Options, skeleton: Skeleton) -> None:
    """Raises Refused if these options cannot optimize weights for some of the bones."""
    if options.deformer == "LINEAR":
        return
    for name, kind, deforms in zip(skeleton.names, skeleton.kinds, skeleton.deform, strict=True):
        if kind == BENDY and deforms:
            raise Refused(
                f"'{name}' is a bendy bone: weights cannot be optimized for Preserve Volume"
            )


def report_deformers(
    problem: Problem,
    poses: Poses,
    before: SparseWeights,
    after: SparseWeights,
    threads: int = 0,
    progress: Listener | None = None,
) -> dict[str, Any] | None:
    """Report entries for SparseWeights before and after, with Blender's deformation in these Poses;
    None if it is linear blending."""
    if not (_differs(problem, before) or _differs(problem, after)):
        return None

    progress = Progress.of(progress)
    found = [
        judged(problem, rows, poses, threads, progress.part(half / 2, 0.5))
        for half, rows in enumerate((before, after))
    ]
    names = zip(problem.names, problem.deformers, strict=True)
    named = [(name, deformer) for name, deformer in names if deformer]
    return {
        "preserve_volume": [name for name, deformer in named if deformer.preserve_volume],
        "envelopes": [name for name, deformer in named if _by_envelopes(deformer)],
        "deformation": {
            "before": as_report(problem.skeleton, found[0][0]),
            "after": as_report(problem.skeleton, found[1][0]),
        },
        "energy_before": found[0][1],
        "energy_after": found[1][1],
    }


def _by_envelopes(deformer: Deformer) -> bool:
    if deformer.use_envelopes or not deformer.use_groups:
        return True
    return bool(deformer.envelopes.multiply.any())


def pose_linearly(problem: Problem, rows: SparseWeights, poses: Poses) -> Floats:
    """The vertices of a problem moved by linear blending, (p, n, 3)."""
    columns = Columns(problem.skeleton)
    points = problem.arguments["vertices"]
    expanded = columns.expand(rows, points, problem.parameters)
    return blend_linearly(points, expanded, columns.transforms(poses))
