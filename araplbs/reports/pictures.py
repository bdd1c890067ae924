"""Renders pictures of a mesh without Blender or a GPU, using a z-buffer in NumPy, and writes PNG.

Triangles are drawn in parallel projection. Triangles with bounding boxes of similar size are tested
together, so the time depends on the covered pixels. Rendering 26,000 triangles on 320 x 400 pixels,
each the mean of 2 x 2 samples, takes 0.1 s. Depth values increase toward the viewer. Both sides of
a triangle are visible and lit. worst_picture() draws a character in the sampled pose with the most
strain, for a report.
"""

import base64
import struct
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.arrays import Floats, Integers
from ..base.engine import engine
from ..base.extent import triangle_areas, vertex_normals, vertex_sums
from ..character.pose_sets import pose_set
from ..character.problem import Problem
from ..disk.outputs import PICTURE
from ..measures.armature_modifier import pose_linearly
from ..measures.strain_colors import strain_colors
from ..model.options import Options
from ..model.sparse_weights import SparseWeights
from ..skeleton.poses import Poses, spread
from ..skeleton.skeleton import Skeleton, hanging

SAMPLES = 2  # per pixel in each direction
MOST_TESTS = 2_000_000  # samples tested at a time
LIGHTS = (  # toward the light in the view axes (right, up, to the viewer), and its brightness
    ((-0.45, 0.65, 0.6), 0.62),
    ((0.75, 0.1, 0.35), 0.16),
)
AMBIENT = 0.30
RIM = 0.25  # darker on surfaces that face away

FRONT, THREE_QUARTER = (0.0, 0.0), (-38.0, 12.0)  # degrees: turned sideways, and from above


def view_axes(turn: float, above: float, to_world: Floats | None = None) -> Floats:
    """View axes as rows (3, 3), right, up and toward the viewer, in the space of the mesh. The
    character looks along -Y and stands along Z in the world. to_world (3, 3): rotation from the
    space of the mesh to the world; by default, none."""
    a, b = np.radians([turn, above])
    toward = np.array([np.sin(a) * np.cos(b), -np.cos(a) * np.cos(b), np.sin(b)])
    right = np.array([np.cos(a), np.sin(a), 0.0])
    axes = np.array([right, np.cross(toward, right), toward])
    return axes if to_world is None else axes @ to_world


def view_toward(
    facing: Floats, turns: Sequence[float], above: float, to_world: Floats | None = None
) -> Floats:
    """The axes of the view, turned sideways by one of these angles, that a surface faces most."""
    views = [view_axes(turn, above, to_world) for turn in turns]
    return max(views, key=lambda axes: float(axes[2] @ facing))


@dataclass(frozen=True)
class Camera:
    axes: np.ndarray  # (3, 3) rows: right, up, toward the viewer
    center: np.ndarray  # (2,) along right and up, in the center of the picture
    scale: float  # pixels per unit
    width: int
    height: int

    def project(self, points: Floats) -> tuple[Floats, Floats]:
        """Projects points (n, 3) to ((n, 2) pixels from the upper left corner, (n,) depths)."""
        seen = points @ self.axes.T
        middle = np.array([self.width, self.height]) / 2
        xy = (seen[:, :2] - self.center) * self.scale * np.array([1, -1]) + middle
        return xy, seen[:, 2]


def camera_around(
    clouds: Iterable[Floats], axes: Floats, width: int, height: int, margin: float = 0.05
) -> Camera:
    """A Camera for several sets of points (n, 3), which are one pose by different methods. The
    frame is the median of the sets' bounding boxes, so a method with distant points does not make
    all others appear small."""
    boxes = [_box(points @ axes[:2].T) for points in clouds if len(points)]
    low, high = np.median(boxes, axis=0) if boxes else np.zeros((2, 2))
    size = np.maximum(high - low, 1e-12)
    scale = (1 - 2 * margin) * min(width / size[0], height / size[1])
    return Camera(axes, (low + high) / 2, scale, width, height)


def _box(points: Floats) -> tuple[Floats, Floats]:
    return points.min(axis=0), points.max(axis=0)


def rasterize(
    xy: Floats, depths: Floats, triangles: Integers, width: int, height: int
) -> tuple[Integers, Floats, Floats]:
    """The visible triangle at the pixel centers: (triangle (height, width), -1 for none;
    coordinates (height, width, 3), barycentric; depth (height, width), -inf for none). xy (n, 2) in
    pixels, depths (n,), larger values being nearer."""
    a, b, c = (xy[corner] for corner in triangles.T)
    low = np.ceil(np.minimum(np.minimum(a, b), c) - 0.5)
    high = np.floor(np.maximum(np.maximum(a, b), c) - 0.5)
    low, high = np.maximum(low, 0), np.minimum(high, [width - 1, height - 1])
    area = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])
    extent = high - low + 1
    seen = np.flatnonzero((extent > 0).all(axis=1) & (np.abs(area) > 1e-12))
    low, extent = low[seen].astype(np.int32), extent[seen].astype(np.int32)

    # The barycentric coordinates of corners b and c are linear in x and y.
    divide = 1 / area[seen]
    ab, ac, start = (b - a)[seen], (c - a)[seen], a[seen]
    slopes = np.stack(
        [ac[:, 1] * divide, -ac[:, 0] * divide, -ab[:, 1] * divide, ab[:, 0] * divide], axis=1
    )
    # Values at the first pixel of the box.
    dx, dy = (low + 0.5 - start).T
    of_b = slopes[:, 0] * dx + slopes[:, 1] * dy
    of_c = slopes[:, 2] * dx + slopes[:, 3] * dy

    classes = np.ceil(np.log2(extent)).astype(np.int32)
    key = 32 * classes[:, 0] + classes[:, 1]
    triangle = np.full(height * width, -1, np.int32)
    coordinates = np.zeros((height * width, 3))
    nearest = np.full(height * width, -np.inf)
    of_corners = depths[triangles[seen]]
    for each in np.unique(key):
        members = np.flatnonzero(key == each)
        wide, tall = 2 ** int(each // 32), 2 ** int(each % 32)
        step = max(1, MOST_TESTS // (wide * tall))
        for first in range(0, len(members), step):
            some = members[first : first + step]
            member, column, row, u, v = _covered(some, wide, tall, of_b, of_c, slopes, extent)
            pixel = (low[member, 1] + row) * width + low[member, 0] + column
            d = of_corners[member]
            depth = d[:, 0] + u * (d[:, 1] - d[:, 0]) + v * (d[:, 2] - d[:, 0])
            nearer = depth > nearest[pixel]
            member, pixel, u, v, depth = (x[nearer] for x in (member, pixel, u, v, depth))
            np.maximum.at(nearest, pixel, depth)
            best = np.flatnonzero(depth == nearest[pixel])[::-1]  # the first of equal ones
            triangle[pixel[best]] = seen[member[best]]
            coordinates[pixel[best], 1] = u[best]
            coordinates[pixel[best], 2] = v[best]
    drawn = triangle >= 0
    coordinates[drawn, 0] = 1 - coordinates[drawn, 1] - coordinates[drawn, 2]
    shape = height, width
    return triangle.reshape(shape), coordinates.reshape(*shape, 3), nearest.reshape(shape)


def _covered(
    members: Integers,
    wide: int,
    tall: int,
    of_b: Floats,
    of_c: Floats,
    slopes: Floats,
    extent: Integers,
) -> tuple[Integers, Integers, Integers, Floats, Floats]:
    """Returns (member, column, row, coordinate of b, of c) for the pixels inside these triangles,
    in boxes of `wide` x `tall` pixels."""
    x, y = np.arange(wide), np.arange(tall)[:, None]
    s = slopes[members, :, None, None]
    u = of_b[members, None, None] + s[:, 0] * x + s[:, 1] * y
    v = of_c[members, None, None] + s[:, 2] * x + s[:, 3] * y
    size = extent[members, :, None, None]
    inside = (u >= 0) & (v >= 0) & (u + v <= 1) & (x < size[:, 0]) & (y < size[:, 1])
    which, row, column = np.nonzero(inside)
    return members[which], column, row, u[inside], v[inside]


def strain_at_vertices(points: Floats, triangles: Integers, strain: Floats) -> Floats:
    """Area-weighted root mean square of the strain (f,) around vertices, (n,); NaN without
    triangles."""
    area = triangle_areas(points, triangles)
    sums = vertex_sums(triangles, np.stack([area * strain**2, area], axis=1), len(points))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.sqrt(sums[:, 0] / sums[:, 1])


def draw(points: Floats, triangles: Integers, colors: Floats, camera: Camera) -> Integers:
    """Renders a mesh of points (n, 3) with lit vertex colors (n, 3), 0 to 255. Returns pixels
    (height, width, 4) uint8 with a transparent background."""
    fine = Camera(
        camera.axes,
        camera.center,
        camera.scale * SAMPLES,
        camera.width * SAMPLES,
        camera.height * SAMPLES,
    )
    xy, depths = fine.project(points)
    triangle, coordinates, _depth = rasterize(xy, depths, triangles, fine.width, fine.height)
    drawn = triangle >= 0
    samples = np.zeros((fine.height, fine.width, 4), np.float32)
    if drawn.any():
        corners, at = triangles[triangle[drawn]].T, coordinates[drawn].T.astype(np.float32)
        normals = vertex_normals(points, triangles) @ camera.axes.T
        each = np.concatenate([normals, colors], axis=1).astype(np.float32)
        mixed: Any = sum(
            each[corner] * part[:, None] for corner, part in zip(corners, at, strict=True)
        )
        samples[drawn, :3] = mixed[:, 3:] * _light(mixed[:, :3])[:, None]
        samples[drawn, 3] = 255
    return _mean_of_samples(samples)


def _light(normals: Floats) -> Floats:
    """Brightness of normals (k, 3) in the view axes, (k,)."""
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    normals = normals / np.where(lengths > 0, lengths, 1)
    normals = normals * np.where(normals[:, 2:] < 0, -1, 1)  # the visible side
    bright = np.full(len(normals), AMBIENT, np.float32)
    for toward, strength in LIGHTS:
        toward = np.array(toward) / np.linalg.norm(toward)
        bright += strength * np.maximum(normals @ toward, 0)
    return np.minimum(bright * (1 - RIM * (1 - normals[:, 2]) ** 2) + 0.08 * normals[:, 2], 1.08)


def _mean_of_samples(samples: Floats) -> Integers:
    steps = range(SAMPLES)
    sums: Any = sum(samples[i::SAMPLES, k::SAMPLES] for i in steps for k in steps)
    covered = sums[..., 3:] / 255
    result = np.empty_like(sums)
    result[..., :3] = sums[..., :3] / np.where(covered > 0, covered, 1)
    result[..., 3:] = 255 * covered / SAMPLES**2
    return np.clip(np.round(result), 0, 255).astype(np.uint8)


def png(pixels: Integers, generator: str = "") -> bytes:
    """The bytes of a PNG file with pixels (height, width, 3 or 4) uint8, the fourth being their
    opacity. Colors have 6 bits, which is invisible on a shaded surface and halves the file size.
    generator: the program named in the file."""
    height, width, channels = pixels.shape
    kept = pixels.copy()
    kept[..., :3] = (kept[..., :3] & 0xFC) | 2
    if channels == 4:
        kept[kept[..., 3] == 0] = 0
    rows = kept.reshape(height, width * channels).astype(np.int16)
    left, above, corner = (np.zeros_like(rows) for _ in range(3))
    left[:, channels:], above[1:] = rows[:, :-channels], rows[:-1]
    corner[1:, channels:] = rows[:-1, :-channels]
    # Paeth's filter: the neighbor nearest to left + above - corner.
    to_left, to_above = np.abs(above - corner), np.abs(left - corner)
    to_corner = np.abs(left + above - 2 * corner)
    guess = np.where(to_above <= to_corner, above, corner)
    guess = np.where((to_left <= to_above) & (to_left <= to_corner), left, guess)
    filtered = np.empty((height, width * channels + 1), np.uint8)
    filtered[:, 0] = 4
    filtered[:, 1:] = (rows - guess).astype(np.uint8)
    header = struct.pack(">IIBBBBB", width, height, 8, 6 if channels == 4 else 2, 0, 0, 0)
    return b"".join(
        [
            b"\x89PNG\r\n\x1a\n",
            _chunk(b"IHDR", header),
            _chunk(b"tEXt", b"Software\0" + generator.encode()) if generator else b"",
            _chunk(b"IDAT", zlib.compress(filtered.tobytes(), 7)),
            _chunk(b"IEND", b""),
        ]
    )


def _chunk(kind: bytes, content: bytes) -> bytes:
    check = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", check)


def data_uri(pixels: Integers) -> str:
    """A picture as a data URI, for a self-contained page."""
    return "data:image/png;base64," + base64.b64encode(png(pixels)).decode("ascii")


def turned_back(skeleton: Skeleton, pose: Poses, posed: Floats) -> Floats:
    """Points (n, 3) in the first of these Poses, relative to the bone that carries the whole body.
    Otherwise, a random pose could rotate this bone and lay the body on its side."""
    transform = pose.transforms[0, _body_root(skeleton)]
    return np.linalg.solve(transform[:, :3], (posed - transform[:, 3]).T).T


def posed_strain(
    problem: Problem, rows: SparseWeights, pose: Poses, threads: int = 0
) -> tuple[Floats, Floats]:
    """Returns (points (n, 3), strain (f,)) in the first of these Poses."""
    posed = pose_linearly(problem, rows, pose)[0]
    points, triangles = (problem.arguments[name] for name in ("vertices", "triangles"))
    return posed, engine.surface_strain(points, triangles, posed, threads=threads)


def _body_root(skeleton: Skeleton) -> int:
    """The deform bone that is an ancestor of most deform bones, including itself."""
    count = np.count_nonzero(hanging(skeleton.parents)[skeleton.deform], axis=0)
    return int(np.argmax(np.where(skeleton.deform, count, 0)))


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
    some = [poses[k : k + 1] for k in spread(len(poses), POSES)]
    posed = [posed_strain(problem, rows, pose, threads) for pose in some]
    area = triangle_areas(points, triangles)
    worst = int(np.argmax([(area * strain**2).sum() for _points, strain in posed]))
    colors = strain_colors(strain_at_vertices(points, triangles, posed[worst][1]))
    shown = turned_back(problem.skeleton, some[worst], posed[worst][0])
    camera = camera_around([shown], view_axes(*THREE_QUARTER, to_world), WIDTH, HEIGHT)
    return png(draw(shown, triangles, colors, camera), PICTURE.generator)
