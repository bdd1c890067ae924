"""Draws lit pictures of posed surfaces that are grids of rings, in panels of Matplotlib."""

import matplotlib as mpl
import numpy as np
import plots
from matplotlib.collections import PolyCollection

FINER = 4  # pieces of each edge, for smooth light; the surface does not change
CELLS = 4  # edges to a side of a square of the pattern
LIGHT = np.array([-0.45, 0.6, 0.75]) / np.linalg.norm(
    [-0.45, 0.6, 0.75]
)  # right, up, to the viewer
ERRORS = mpl.colors.LinearSegmentedColormap.from_list(
    "errors", ["#e9e2d6", "#f3c37b", "#e8833a", "#c8371b", "#7a0f12"]
)
MOST_ERROR = 0.6
MOST_JOINTS = 20  # a polyline of more is a curve, whose points are not shown


def view(azimuth, elevation, up=(0, 0, 1.0)):
    """Rows: the directions to the right, up and toward the viewer. Degrees; azimuth from X to Y if
    Z is up."""
    a, e = np.radians([azimuth, elevation])
    front = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
    right = np.cross(up, front)
    right /= np.linalg.norm(right)
    return np.array([right, np.cross(front, right), front])


def finer(grid):
    """(rings, around, k) with FINER times as many edges, by linear interpolation; the last column
    is the first."""
    closed = np.concatenate([grid, grid[:, :1]], 1)
    for axis in (0, 1):
        closed = np.moveaxis(closed, axis, 0)
        at = np.linspace(0, len(closed) - 1, (len(closed) - 1) * FINER + 1)
        low = np.minimum(at.astype(int), len(closed) - 2)
        share = (at - low)[:, None, None]
        closed = (1 - share) * closed[low] + share * closed[low + 1]
        closed = np.moveaxis(closed, 0, axis)
    return closed


def corners(grid):
    """(quads, 4, k)"""
    quads = [grid[:-1, :-1], grid[:-1, 1:], grid[1:, 1:], grid[1:, :-1]]
    return np.stack(quads, 2).reshape(-1, 4, grid.shape[-1])


def draw(panel, grid, errors, camera, bones=()):
    """The surface (rings, around, 3) with an error at each vertex, with polylines of bones over
    it."""
    grid = grid @ camera.T
    around = np.concatenate([grid[:, -1:], grid, grid[:, :1]], 1)
    normal = np.cross(np.gradient(around, axis=1)[:, 1:-1], np.gradient(grid, axis=0))
    normal /= np.maximum(np.linalg.norm(normal, axis=-1, keepdims=True), 1e-12)
    quads = corners(finer(grid))
    normal = corners(finer(normal)).mean(1)
    normal /= np.maximum(np.linalg.norm(normal, axis=-1, keepdims=True), 1e-12)
    error = corners(finer(errors[..., None])).mean((1, 2))

    a, b = quads[:, 2] - quads[:, 0], quads[:, 3] - quads[:, 1]
    outside = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0] > 0
    normal = np.where(outside[:, None], normal, -normal)
    diffuse = np.maximum(normal @ LIGHT, 0)
    half = LIGHT + np.array([0, 0, 1.0])
    shine = np.maximum(normal @ (half / np.linalg.norm(half)), 0) ** 40
    rows, columns = np.divmod(np.arange(len(quads)), grid.shape[1] * FINER)
    pattern = (rows // (FINER * CELLS) + columns // (FINER * CELLS)) % 2
    light = (0.52 + 0.48 * diffuse) * np.where(pattern, 0.86, 1) * np.where(outside, 1, 0.55)
    color = ERRORS(np.clip(error / MOST_ERROR, 0, 1))[:, :3] * light[:, None]
    color = np.clip(color + 0.14 * (shine * outside)[:, None], 0, 1)

    order = np.argsort(quads[..., 2].mean(1))
    panel.add_collection(
        PolyCollection(
            quads[order, :, :2], facecolors=color[order], edgecolors=color[order], linewidths=0.8,
        )
    )  # fmt: skip
    for bone in bones:
        x, y, _ = (bone @ camera.T).T
        panel.plot(x, y, color=plots.BLUE, linewidth=1.3, alpha=0.75, solid_capstyle="round")
        joints = slice(None, None, len(x) - 1 if len(x) > MOST_JOINTS else 1)
        panel.plot(x[joints], y[joints], "o", color=plots.BLUE, markersize=2.6)
    panel.margins(0.03)
    panel.set_aspect("equal")
    panel.axis("off")


def color_bar(fig, panel, **where):
    scale = mpl.cm.ScalarMappable(mpl.colors.Normalize(0, 100 * MOST_ERROR), ERRORS)
    return fig.colorbar(scale, cax=panel, **where)
