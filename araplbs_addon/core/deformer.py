"""How Blender deforms meshes where that is more than blending linearly by vertex groups: Preserve
Volume and envelopes. And the energy of that. No bpy: any thread may compute it.

Bendy bones count as rigid here.
"""

from dataclasses import dataclass

import araplbs
import numpy as np

from .error_map import energy, pose_set
from .rows import join_rows, make_rows

LEAST_SUM = 1e-4  # of a vertex' weights; Blender leaves it where it is if they are no more
MOST_POINTS = 2_000_000  # posed at a time: 48 MB


@dataclass
class Envelopes:
    """Of m bones, in armature space."""

    multiply: np.ndarray  # (m,) bool: vertex groups count as much as the envelope says
    head_radius: np.ndarray  # (m,)
    tail_radius: np.ndarray  # (m,)
    distance: np.ndarray  # (m,) from the envelope to where it ends
    weight: np.ndarray  # (m,) where there is no vertex group


@dataclass
class Deformer:
    """An Armature modifier."""

    envelopes: Envelopes
    preserve_volume: bool = False
    use_groups: bool = True
    use_envelopes: bool = False  # for vertices that are in no group of a deform bone


def falloff(skeleton, envelopes, bones, points):
    """(k,) 1 inside the envelopes of these bones (k,), falling to 0 at their distance; points
    (k, 3)."""
    heads, tails = skeleton.heads[bones], skeleton.tails[bones]
    lengths = np.linalg.norm(tails - heads, axis=1)
    axes = (tails - heads) / np.where(lengths > 0, lengths, 1)[:, None]
    height = np.einsum("kc,kc->k", points - heads, axes)
    along = np.clip(height / np.where(lengths > 0, lengths, 1), 0, 1)
    nearest = heads + (along * lengths)[:, None] * axes
    away = np.linalg.norm(points - nearest, axis=1)
    radius = (1 - along) * envelopes.head_radius[bones] + along * envelopes.tail_radius[bones]
    reach = envelopes.distance[bones]
    outside = (away - radius) / np.where(reach > 0, reach, np.inf)
    return np.where(away < radius, 1.0, np.where((reach > 0) & (outside < 1), 1 - outside**2, 0.0))


def effective_rows(rows, points, skeleton, deformer):
    """The Rows that the modifier deforms by, of vertices at points (n, 3) in armature space; none
    where they are too small to move a vertex."""
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
        vertices = np.concatenate([vertices, left])
        bones = np.concatenate([bones, each])
        weights = np.concatenate([weights, factor * envelopes.weight[each]])
    moved = np.bincount(vertices, weights, n) > LEAST_SUM
    kept = moved[vertices] & (weights > 0)
    return make_rows(n, vertices[kept], bones[kept], weights[kept])


def bone_axes(skeleton):
    """(m, 3, 3) local X, Y and Z of the bones at rest, as columns."""
    y = skeleton.tails - skeleton.heads
    lengths = np.linalg.norm(y, axis=1, keepdims=True)
    z = skeleton.roll_axes / np.linalg.norm(skeleton.roll_axes, axis=1, keepdims=True)
    across = np.eye(3)[np.abs(z).argmin(axis=1)]  # for bones of no length
    y = np.where(lengths > 0, y / np.where(lengths > 0, lengths, 1), across)
    y = y - np.einsum("mc,mc->m", y, z)[:, None] * z  # of rounding
    y /= np.linalg.norm(y, axis=1, keepdims=True)
    return np.stack([np.cross(y, z), y, z], axis=2)


def blend_linearly(points, rows, poses):
    """(p, n, 3) where linear blending takes points (n, 3); they stay where they have no weight."""
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


def pose_points(points, rows, poses, skeleton, deformer, threads=0):
    """(p, n, 3) where the modifier takes points (n, 3); rows: effective_rows(). A deformer of None
    blends linearly."""
    if deformer is None or not deformer.preserve_volume:
        return blend_linearly(points, rows, poses)
    return araplbs.dual_quaternion_skinning(
        points, tuple(rows), poses, bone_axes=bone_axes(skeleton), threads=threads
    )


def _parts(problem, rows):
    """[(points, effective Rows, Deformer or None)] of the meshes of a problem."""
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


def _joined(parts):
    return join_rows([rows for _points, rows, _deformer in parts])


def deformed_energy(problem, rows, poses, threads=0, progress=None):
    """The relative energy of a Problem in these poses as Blender deforms it. Raises
    araplbs.Cancelled when progress(fraction) returns False."""
    parts = _parts(problem, rows)
    if not any(deformer and deformer.preserve_volume for _p, _r, deformer in parts):
        return energy(problem, _joined(parts), poses, threads=threads)
    arguments, total = problem.arguments, 0.0
    step = max(1, MOST_POINTS // max(1, rows.count))
    for first in range(0, len(poses), step):
        some = poses[first : first + step].transforms
        posed = [
            pose_points(points, own, some, problem.skeleton, deformer, threads)
            for points, own, deformer in parts
        ]
        total += len(some) * araplbs.posed_energy(
            arguments["vertices"],
            arguments["triangles"],
            np.concatenate(posed, axis=1),
            edges=arguments["edges"],
            threads=threads,
        )
        if progress and progress((first + len(some)) / len(poses)) is False:
            raise araplbs.Cancelled("cancelled during the energy as Blender deforms")
    return total / max(1, len(poses))


def _differs(problem, rows):
    """Does Blender deform by these weights otherwise than linearly?"""
    if any(deformer and deformer.preserve_volume for deformer in problem.deformers):
        return True
    return any(problem.deformers) and not _equal(_joined(_parts(problem, rows)), rows)


def _equal(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def report_deformers(problem, options, before, after, threads=0, progress=None):
    """What a report says of weights (Rows) before and after as Blender deforms by them; None where
    that is linear blending. progress: see deformed_energy()."""
    if not (_differs(problem, before) or _differs(problem, after)):
        return None
    poses = pose_set(problem, options)
    halves = [None, None]
    if progress:
        halves = [lambda f: progress(f / 2), lambda f: progress(0.5 + f / 2)]
    names = zip(problem.names, problem.deformers, strict=True)
    named = [(name, deformer) for name, deformer in names if deformer]
    return {
        "preserve_volume": [name for name, deformer in named if deformer.preserve_volume],
        "envelopes": [name for name, deformer in named if _by_envelopes(deformer)],
        "energy_before": deformed_energy(problem, before, poses, threads, halves[0]),
        "energy_after": deformed_energy(problem, after, poses, threads, halves[1]),
    }


def _by_envelopes(deformer):
    return deformer.use_envelopes or not deformer.use_groups or deformer.envelopes.multiply.any()
