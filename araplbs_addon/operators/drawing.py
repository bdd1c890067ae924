"""Draws dots, lines, boxes and texts in the 3D view, in scene space or in pixels of the region."""

import blf
import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader

NEARER = 2e-5  # of the depth: in front of the colored surface


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


def draw_in_front(batch, shader):
    """Draws the batch just in front of the surface that it lies on, but behind everything in front
    of this surface."""
    gpu.state.depth_test_set("LESS_EQUAL")
    with gpu.matrix.push_pop_projection():
        matrix = gpu.matrix.get_projection_matrix()
        matrix[2] = matrix[2] - NEARER * matrix[3]
        gpu.matrix.load_projection_matrix(matrix)
        batch.draw(shader)
    gpu.state.depth_test_set("NONE")


def draw_lines(points, color, width, kind="LINES"):
    """Draws lines between points (n, 3). kind: LINES between pairs of points, or LINE_STRIP."""
    shader = gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR")
    batch = batch_for_shader(shader, kind, {"pos": np.asarray(points, np.float32)})
    shader.uniform_float("viewportSize", gpu.state.viewport_get()[2:])
    shader.uniform_float("lineWidth", width)
    shader.uniform_float("color", color)
    batch.draw(shader)


def draw_box(x, y, width, height, color):
    """Draws a filled rectangle in pixels of the region."""
    shader = gpu.shader.from_builtin("UNIFORM_COLOR")
    corners = [(x, y), (x + width, y), (x, y + height), (x + width, y + height)]
    batch = batch_for_shader(shader, "TRI_STRIP", {"pos": corners})
    shader.uniform_float("color", color)
    batch.draw(shader)


def text_size(text, size):
    """The (width, height) of a text in pixels."""
    blf.size(0, size)
    return blf.dimensions(0, text)


def draw_text(text, x, y, size, color):
    """Draws a text in pixels of the region. x, y: its lower left corner."""
    blf.size(0, size)
    blf.color(0, *color)
    blf.position(0, x, y, 0)
    blf.draw(0, text)
