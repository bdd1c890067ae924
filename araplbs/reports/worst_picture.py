"""Draws the picture of a character in a report: in the sampled pose with the most strain, colored
by strain."""

import numpy as np

from ..base.arrays import Floats
from ..base.engine import engine
from ..character.pose_sets import pose_set
from ..character.problem import Problem
from ..disk.outputs import PICTURE
from ..measures.armature_modifier import pose_linearly
from ..measures.strain_colors import strain_colors
from ..model.options import Options
from ..model.sparse_weights import SparseWeights
from ..skeleton.poses import spread
from .pictures import (
    THREE_QUARTER,
    camera_around,
    draw,
    png,
    strain_at_vertices,
    turned_back,
    view_axes,
)

POSES = 12  # examined poses
WIDTH, HEIGHT = 300, 360  # pixels


def worst_picture(
    problem: Problem,
    rows: SparseWeights,
    options: Options,
    to_world: Floats | None = None,
    threads: int = 0,
) -> bytes | None:
    """The picture as the bytes of a PNG file; None if there is no surface. to_world (3, 3): see
    view_axes()."""
    points, triangles = (problem.arguments[name] for name in ("vertices", "triangles"))
    poses = pose_set(problem, options)
    if not len(triangles) or not len(poses):
        return None
    poses = poses[spread(len(poses), POSES)]
    posed = pose_linearly(problem, rows, poses)
    strain = [engine.surface_strain(points, triangles, each, threads=threads) for each in posed]
    a, b, c = points[triangles].swapaxes(0, 1)
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    worst = int(np.argmax([(area * each**2).sum() for each in strain]))
    colors = strain_colors(strain_at_vertices(points, triangles, strain[worst]))
    shown = turned_back(problem.skeleton, poses[worst : worst + 1], posed[worst])
    camera = camera_around([shown], view_axes(*THREE_QUARTER, to_world), WIDTH, HEIGHT)
    return png(draw(shown, triangles, colors, camera), PICTURE.generator)
