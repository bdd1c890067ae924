"""picture(): draws a character in poses, as a PNG file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..base.progress import Listener
from ..base.steps import finish
from ..character.directions import read_directions_in_steps
from ..character.problem import Problem
from ..disk.outputs import PICTURE
from ..features.check.sheet import checked_sheet
from ..model.options import Options
from ..reports.pictures import png
from ..skeleton.skeleton import Skeleton
from .rows import rows_of
from .weights import mesh_of_arrays


def picture(
    vertices: Any,
    triangles: Any,
    joints: Any,
    parents: Any,
    weights: Any,
    *,
    before: Any = None,
    tails: Any = None,
    names: Iterable[object] | None = None,
    deform: Any = None,
    roll_axes: Any = None,
    up: Any = (0, 0, 1),
    title: str = "",
    threads: int = 0,
    progress: Listener | None = None,
) -> bytes:
    """Draw a character in its worst poses and in named ones: arms up, sit, fist and twist. Colors
    show the stretch, and lines lead to the names of the bones that move the worst places. The first
    picture marks the findings of `araplbs check`.

    weights: the weights, as Weights, Rows, an array (n, m) or a sparse matrix of SciPy. before:
        earlier weights, which are drawn above them in the same poses.
    up: the upward direction in the space of the vertices. title: the first line.
    vertices, triangles, joints, parents, tails, names, deform, roll_axes, threads, progress: as in
        araplbs.weights().

    Returns the bytes of a PNG file. Needs neither Blender nor a display. Raises ValueError for
    invalid arrays, and Cancelled.

    >>> vertices, triangles = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 1, 2], [0, 2, 3]]
    >>> joints, parents, weights = [[0, 0, 0], [0, 0, 0.5]], [-1, 0], [[1, 0]] * 3 + [[0, 1]]
    >>> picture(vertices, triangles, joints, parents, weights)[:4]
    b'\\x89PNG'
    """
    skeleton = Skeleton.from_joints(
        joints, parents, tails=tails, names=names, deform=deform, roll_axes=roll_axes
    )
    mesh = mesh_of_arrays(vertices, triangles, None, (), None, len(skeleton.names))
    if not len(mesh.triangles):
        raise ValueError("triangles is empty: there is no surface to draw")
    toward = np.asarray(up, np.float64)
    if toward.shape != (3,) or not np.isfinite(toward).all() or not toward.any():
        raise ValueError(f"up is {up!r}: must be a direction, such as (0, 0, 1)")
    shape = len(mesh.vertices), len(skeleton.names)
    sets = [("before", before), ("after", weights)] if before is not None else [("", weights)]
    rows = [(name, rows_of(name or "weights", each, *shape)) for name, each in sets]
    directions = "JOINTS" if tails is None else "AUTOMATIC"
    options = Options(bone_directions=directions)
    skeleton = finish(read_directions_in_steps([mesh], skeleton, directions, threads))
    problem = Problem([mesh], skeleton, None, options.symmetric)
    toward = toward / np.linalg.norm(toward)
    sheet = checked_sheet(title, problem, rows, options, toward, threads, progress)
    assert sheet is not None
    return png(sheet, PICTURE.generator)
