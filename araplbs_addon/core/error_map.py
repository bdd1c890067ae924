"""How far a mesh is from keeping its shape, vertex by vertex. No bpy: any thread may compute it."""

import araplbs
import numpy as np

from .poses import Poses, sample

FULL_SCALE = 0.25  # root of the energy of a vertex that is shown in the last colour


def pose_set(problem, options):
    """The Poses that a solver of this problem uses."""
    arguments, poses = problem.arguments, None
    if "poses" in arguments:
        poses = Poses(arguments["poses"], arguments.get("segment_poses"))
    if "pose_count" in arguments:
        return poses
    sampled, _bends = sample(problem.skeleton, options, arguments.get("mirror"))
    if poses:
        sampled = np.concatenate([poses.transforms, sampled])
    return Poses(sampled, None)


def energy(problem, rows, poses, **options):
    """araplbs.energy of a problem with these weights."""
    arguments, skeleton = problem.arguments, problem.skeleton
    if skeleton.flexible:
        options = {
            **options,
            **skeleton.deformers,
            "bone_heads": skeleton.heads,
            "bone_tails": skeleton.tails,
            "segment_poses": poses.joints,
            "parameters": problem.parameters,
        }
    return araplbs.energy(
        arguments["vertices"],
        arguments["triangles"],
        tuple(rows),
        poses.transforms,
        edges=arguments["edges"],
        **options,
    )


def vertex_errors(problem, rows, poses, threads=0):
    """(vertices of the problem,) root of each vertex' energy over these poses: 0.1 says that the
    edges around it are off by about 10 %."""
    _total, each = energy(problem, rows, poses, per_vertex=True, threads=threads)
    return np.sqrt(np.maximum(each, 0))


def worst(errors, share):
    """Indices of the `share` of the vertices with the largest errors, at least one."""
    count = max(1, round(share * len(errors)))
    return np.sort(np.argsort(-errors, kind="stable")[:count])


# Dark blue, blue, green, yellow, red: as weights are shown.
COLOURS = np.array(
    [(0.0, 0.0, 0.35), (0.0, 0.25, 0.9), (0.0, 0.8, 0.2), (0.95, 0.9, 0.0), (0.95, 0.05, 0.0)]
)


def colours(errors):
    """(n, 4) colours of errors from 0 to FULL_SCALE."""
    at = np.clip(errors / FULL_SCALE, 0, 1) * (len(COLOURS) - 1)
    low = np.minimum(at.astype(int), len(COLOURS) - 2)
    part = (at - low)[:, None]
    mixed = COLOURS[low] * (1 - part) + COLOURS[low + 1] * part
    return np.column_stack([mixed, np.ones(len(errors))]).astype(np.float32)
