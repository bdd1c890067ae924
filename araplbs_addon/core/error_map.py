"""Poses to judge weights in, their energy there, and strain as colors. No bpy: any thread may
compute it."""

import numpy as np

from .native_module import araplbs
from .poses import Poses, sample

FULL_SCALE = 0.5  # Surface Strain that is shown in the last color


def pose_set(problem, options):
    """The Poses that a solver of this problem uses."""
    arguments, given = problem.arguments, None
    if "poses" in arguments:
        whole = "pose_count" in arguments
        given = Poses(
            arguments["poses"],
            arguments.get("segment_poses"),
            whole,
            arguments.get("pose_weights"),
        )
    return with_random(problem, options, given)


def with_random(problem, options, given):
    """The Poses that a solver would use with these given ones, or None."""
    if given is not None and given.whole:
        return given
    sampled, _bends = sample(problem.skeleton, options, problem.arguments.get("symmetry"))
    if given is None or not len(given):
        return Poses(sampled, None)
    weights = None
    if given.weights is not None:
        weights = np.concatenate([given.weights, np.ones(len(sampled))])
    return Poses(np.concatenate([given.transforms, sampled]), None, weights=weights)


def minimized_energy(problem, options, rows, threads=0):
    """The energy that a solver of this problem starts from with these weights: all spokes have
    their whole strength, as those of the first frame of a session have."""
    start = {"weights": tuple(rows), "start_from_weights": True, "threads": threads}
    return araplbs.Solver(**{**options.solver_arguments(), **problem.arguments, **start}).energy


def energy(problem, rows, poses, **options):
    """araplbs.energy, that of the surface alone, of a problem with these weights."""
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
        **poses.weight_arguments,
        **options,
    )


def worst(strain, share):
    """Indices of the `share` of the vertices with the largest strain, at least one."""
    count = max(1, round(share * len(strain)))
    return np.sort(np.argsort(-strain, kind="stable")[:count])


# Dark blue, blue, green, yellow, red: as weights are shown.
COLORS = np.array(
    [(0.0, 0.0, 0.35), (0.0, 0.25, 0.9), (0.0, 0.8, 0.2), (0.95, 0.9, 0.0), (0.95, 0.05, 0.0)]
)


def colors(strain):
    """(n, 4) colors of strain from 0 to FULL_SCALE."""
    at = np.clip(strain / FULL_SCALE, 0, 1) * (len(COLORS) - 1)
    low = np.minimum(at.astype(int), len(COLORS) - 2)
    part = (at - low)[:, None]
    mixed = COLORS[low] * (1 - part) + COLORS[low + 1] * part
    return np.column_stack([mixed, np.ones(len(strain))]).astype(np.float32)
