"""Dots in the 3D view."""

import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader

from .error_view import draw_in_front

CELL = 9  # pixels: of thinned dots at most one is drawn in a cell of this size


def draw_points(points, colors, size, through=False):
    """through: also where something is in front of them."""
    if not len(points):
        return
    try:
        shader = gpu.shader.from_builtin("POINT_FLAT_COLOR")
    except ValueError:  # before 4.5
        shader = gpu.shader.from_builtin("FLAT_COLOR")
    batch = batch_for_shader(
        shader,
        "POINTS",
        {"pos": np.asarray(points, np.float32), "color": np.asarray(colors, np.float32)},
    )
    gpu.state.point_size_set(size)
    gpu.state.blend_set("ALPHA")
    if through:
        gpu.state.depth_test_set("NONE")
        batch.draw(shader)
    else:
        draw_in_front(batch, shader)
    gpu.state.blend_set("NONE")
    gpu.state.point_size_set(1)


def thinned(points, matrix, width, height):
    """Indices of so many of the points (n, 3) that the surface below them can still be seen: of
    those in one cell of the screen, the one nearest to the eye. matrix (4, 4): of the view and its
    perspective; width, height: of the region in pixels."""
    seen = np.column_stack([points, np.ones(len(points))]) @ np.asarray(matrix).T
    ahead = np.flatnonzero(seen[:, 3] > 0)
    if not len(ahead):
        return ahead
    places = seen[ahead, :3] / seen[ahead, 3:]
    inside = (np.abs(places[:, :2]) <= 1).all(1)
    ahead, places = ahead[inside], places[inside]
    cells = np.floor((places[:, :2] + 1) / 2 * [width, height] / CELL).astype(np.int64)
    key = cells[:, 0] * (height + 1) + cells[:, 1]
    order = np.lexsort([places[:, 2], key])
    first = np.ones(len(order), bool)
    first[1:] = key[order][1:] != key[order][:-1]
    return np.sort(ahead[order[first]])
