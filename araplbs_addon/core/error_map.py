"""How far a mesh is from keeping its shape, vertex by vertex. No bpy: any thread may compute it."""

import araplbs
import numpy as np

FULL_SCALE = 0.25  # root of the energy of a vertex that is shown in the last colour


def pose_set(problem, options):
    """(p, m, 3, 4) the poses that a solver of this problem uses."""
    given = problem.arguments.get("poses")
    skeleton = problem.skeleton
    sampled = araplbs.sample_poses(
        skeleton.heads,
        skeleton.tails,
        skeleton.parents,
        options.pose_count,
        bone_roll_axes=skeleton.roll_axes,
        bone_deform=skeleton.deform,
        bone_limits=skeleton.limits,
        mirror=problem.arguments.get("mirror"),
        seed=options.seed,
        swing=options.swing,
        twist=options.twist,
    )
    if given is None:
        return sampled
    return np.concatenate([np.asarray(given)[:, :, :3], sampled])


def energy(problem, rows, poses, **options):
    """araplbs.energy of a problem with these weights."""
    arguments = problem.arguments
    return araplbs.energy(
        arguments["vertices"],
        arguments["triangles"],
        tuple(rows),
        poses,
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
