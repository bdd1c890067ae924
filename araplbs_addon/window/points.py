"""Draws dots in the 3D view."""

import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader

from .error_view import draw_in_front


def draw_points(points, colors, size, through=False):
    """Draws points. through: whether to draw points that objects in front of them hide."""
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
