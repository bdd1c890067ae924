"""Builds a character from arrays, so scripts can compare methods without Blender."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from ...base.arrays import Array, Floats
from ...character.mesh import Mesh
from ...character.problem import Problem
from ...measures.armature_modifier import orthonormal_axes
from ...model.options import Options
from ...skeleton.poses import Poses, spread
from ...skeleton.skeleton import Skeleton
from .judge import ANIMATION, RANDOM, Case, judged_poses
from .methods import as_sparse
from .options import CompareOptions


def case_of_arrays(
    vertices: Array,
    triangles: Array,
    bone_heads: Array,
    bone_tails: Array,
    bone_parents: Array,
    *,
    name: str = "character",
    bone_names: Iterable[object] | None = None,
    bone_deform: Array | None = None,
    bone_roll_axes: Array | None = None,
    edges: Array | None = None,
    weights: Array | tuple[Array, Array, Array] | None = None,
    animation: Array | None = None,
    to_world: Array | None = None,
    options: CompareOptions | None = None,
) -> Case:
    """Builds a Case without Blender. vertices (n, 3), triangles (f, 3), bone_heads and bone_tails
    (m, 3), bone_parents (m,): all in one space, with -1 for the parents of roots. bone_roll_axes
    (m, 3): the local Z axes.

    weights: the reference weights, (n, m) or rows (start, bones, weights). animation (p, m, 3, 4)
    or (p, m, 4, 4): poses for judging, in addition to random ones. options: CompareOptions. Raises
    ValueError for inconsistent arrays.
    """
    options = options or CompareOptions()
    heads, tails = np.asarray(bone_heads, float), np.asarray(bone_tails, float)
    m = len(heads)
    rolls = np.full((m, 3), np.nan) if bone_roll_axes is None else np.asarray(bone_roll_axes)
    deform = np.ones(m, bool) if bone_deform is None else np.asarray(bone_deform, bool)
    names = [f"bone {b}" for b in range(m)] if bone_names is None else list(map(str, bone_names))
    parents = np.asarray(bone_parents, np.int32)
    for what, each in (
        ("bone_tails", tails),
        ("bone_parents", parents),
        ("bone_names", names),
        ("bone_deform", deform),
        ("bone_roll_axes", rolls),
    ):
        if len(each) != m:
            raise ValueError(f"{what} has {len(each)} rows, but there are {m} bones")
    skeleton = Skeleton(
        names,
        heads,
        tails,
        parents,
        _with_rolls(heads, tails, rolls),
        deform,
        np.full((m, 3, 2), np.nan),
        np.arange(m),
    )
    edges = np.zeros((0, 2), np.int64) if edges is None else np.asarray(edges)
    points = np.ascontiguousarray(vertices, float)
    mesh = Mesh(name, points, np.asarray(triangles), edges, np.eye(4))
    present = None if weights is None else as_sparse(weights)
    if present is not None and present.count != len(points):
        raise ValueError(f"weights has {present.count} rows, but there are {len(points)} vertices")
    poses = {RANDOM: judged_poses(skeleton, options)}
    if animation is not None and len(animation) and options.judged_frames:
        frames = np.asarray(animation, float)
        if frames.ndim != 4 or frames.shape[1] != m or frames.shape[2:] not in ((3, 4), (4, 4)):
            raise ValueError(f"animation has shape {frames.shape}: must be (p, {m}, 3 or 4, 4)")
        frames = frames[spread(len(frames), options.judged_frames), :, :3]
        poses[ANIMATION] = Poses(np.ascontiguousarray(frames), None)
    problem = Problem([mesh], skeleton, symmetric=Options().symmetric)
    return Case(name, problem, poses, present, to_world=to_world)


def _with_rolls(heads: Floats, tails: Floats, rolls: Floats) -> Floats:
    """The roll axes. A bone whose roll is unknown gets any axis across it."""
    known: Any = np.isfinite(rolls).all(axis=1)
    return np.where(known[:, None], rolls, _across(tails - heads))


def _across(along: Floats) -> Floats:
    axis = np.eye(3)[np.abs(along).argmin(axis=1)]
    return orthonormal_axes(along, axis)[:, :, 2]
