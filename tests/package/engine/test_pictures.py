"""Compares the rasterizer with known results for single triangles and for a sphere, and reads PNG
files back."""

import struct
import tracemalloc
import zlib

import numpy as np
import pytest
import shapes
from araplbs.measures.strain_colors import NO_COLOR, strain_colors
from araplbs.reports import pictures
from araplbs.reports.pictures import (
    FRONT,
    THREE_QUARTER,
    Camera,
    camera_around,
    draw,
    png,
    rasterize,
    strain_at_vertices,
    vertex_normals,
    view_axes,
)


def brute_force(xy, depths, triangles, width, height):
    """The picture, pixel by pixel."""
    seen = np.full((height, width), -1)
    nearest = np.full((height, width), -np.inf)
    for number, (a, b, c) in enumerate(triangles):
        system = np.array([xy[b] - xy[a], xy[c] - xy[a]]).T
        if abs(np.linalg.det(system)) < 1e-12:
            continue
        for row in range(height):
            for column in range(width):
                u, v = np.linalg.solve(system, [column + 0.5, row + 0.5] - xy[a])
                if u < 0 or v < 0 or u + v > 1:
                    continue
                depth = depths[a] + u * (depths[b] - depths[a]) + v * (depths[c] - depths[a])
                if depth > nearest[row, column]:
                    nearest[row, column], seen[row, column] = depth, number
    return seen, nearest


@pytest.mark.parametrize("seed", range(4))
def test_random_triangles(seed):
    rng = np.random.default_rng(seed)
    width, height = 23, 17
    xy = rng.uniform([-6, -6], [width + 6, height + 6], (30, 2))
    depths, triangles = rng.normal(size=30), rng.integers(0, 30, (6, 3))
    seen, nearest = brute_force(xy, depths, triangles, width, height)
    triangle, coordinates, depth = rasterize(xy, depths, triangles, width, height)
    np.testing.assert_array_equal(triangle, seen)
    np.testing.assert_allclose(depth, nearest, atol=1e-9)
    drawn = triangle >= 0
    corners = triangles[triangle[drawn]]
    places = np.einsum("kc,kcx->kx", coordinates[drawn], xy[corners])
    rows, columns = np.nonzero(drawn)
    np.testing.assert_allclose(places, np.stack([columns, rows], 1) + 0.5, atol=1e-9)
    assert drawn.any() and not drawn.all()


def test_coverage_is_the_area():
    """Two triangles that form a rectangle cover each pixel inside exactly once, and no pixel
    outside."""
    xy = np.array([(2, 3), (12, 3), (12, 8), (2, 8)], float)
    triangles = np.array([(0, 1, 2), (0, 2, 3)])
    triangle, _coordinates, _depth = rasterize(xy, np.zeros(4), triangles, 20, 15)
    expected = np.zeros((15, 20), bool)
    expected[3:8, 2:12] = True
    np.testing.assert_array_equal(triangle >= 0, expected)


def test_the_nearer_one_is_seen():
    xy = np.array([(0, 0), (10, 0), (0, 10)] * 2, float)
    depths = np.array([1, 1, 1, 0, 0, 3.0])
    triangle, _coordinates, depth = rasterize(xy, depths, np.arange(6).reshape(2, 3), 10, 10)
    # The second one rises by 3 / 10 of a unit each row: nearer from the depth 1 on.
    assert triangle[1, 0] == 0 and triangle[2, 0] == 0 and triangle[3, 0] == 1
    assert depth[3, 0] == pytest.approx(0.3 * 3.5)


def test_copies_take_no_more_memory(monkeypatch):
    """The samples of all copies would take some megabytes."""
    monkeypatch.setattr(pictures, "MOST_TESTS", 10_000)
    xy = np.array([(0, 0), (90, 0), (0, 90)], float)
    triangles = np.tile([0, 1, 2], (60, 1))
    tracemalloc.start()
    triangle, *_others = rasterize(xy, np.array([0.0, 1, 2]), triangles, 60, 50)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert triangle[0, 0] == 0, "the first of equal ones is seen"
    assert most < 3 << 20


def test_nothing_to_see():
    empty = np.zeros((0, 3), int)
    triangle, _coordinates, depth = rasterize(np.zeros((0, 2)), np.zeros(0), empty, 4, 3)
    assert (triangle == -1).all() and np.isneginf(depth).all()
    behind = rasterize(
        np.array([(-9, 0), (-5, 0), (-7, 4.0)]), np.zeros(3), np.array([(0, 1, 2)]), 4, 3
    )
    assert (behind[0] == -1).all()


def test_views():
    right, up, toward = view_axes(*FRONT)
    np.testing.assert_allclose([right, up, toward], [(1, 0, 0), (0, 0, 1), (0, -1, 0)], atol=1e-12)
    axes = view_axes(*THREE_QUARTER)
    np.testing.assert_allclose(axes @ axes.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(axes) == pytest.approx(1) and axes[2, 2] > 0
    # A space whose Y is up, as a file from elsewhere has it.
    to_world = np.array([(1, 0, 0), (0, 0, -1), (0, 1, 0)], float)
    np.testing.assert_allclose(view_axes(*FRONT, to_world)[1], (0, 1, 0), atol=1e-12)


def test_the_camera_frames_the_median():
    box = np.array([(x, 0, z) for x in (0, 2) for z in (0, 1)], float)
    camera = camera_around([box, box, 1000 * box], view_axes(*FRONT), 220, 220, margin=0.05)
    xy, _depths = camera.project(box)
    np.testing.assert_allclose(xy.min(0), (11, 60.5))
    np.testing.assert_allclose(xy.max(0), (209, 159.5))
    assert xy[1, 1] < xy[0, 1], "up is up"


def test_a_sphere():
    points, triangles = shapes.sphere(38, 80, 1.0)
    normals = vertex_normals(points, triangles)
    inside = np.abs(points[:, 2]) < 0.99
    np.testing.assert_allclose(normals[inside], points[inside], atol=0.01)
    colors = np.tile([200.0, 100.0, 50.0], (len(points), 1))
    camera = camera_around([points], view_axes(*FRONT), 100, 100, margin=0.1)
    pixels = draw(points, triangles, colors, camera)
    covered = pixels[..., 3].astype(float).sum() / 255
    assert covered == pytest.approx(np.pi * 40**2, rel=0.01)
    assert (pixels[0, 0] == 0).all() and pixels[50, 50, 3] == 255
    red, green, blue = pixels[50, 50, :3].astype(float)
    assert green / red == pytest.approx(0.5, abs=0.02) and blue / red == pytest.approx(
        0.25, abs=0.02
    )
    # Lit from the upper left, with any orientation of the triangles.
    assert pixels[30, 30, 0] > pixels[70, 70, 0]
    np.testing.assert_array_equal(draw(points, triangles[:, ::-1], colors, camera), pixels)


def test_strain_at_vertices():
    points = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (3, 0, 0), (9, 9, 9)], float)
    triangles = np.array([(0, 1, 2), (1, 3, 2)])  # areas 0.5 and 1
    strain = strain_at_vertices(points, triangles, np.array([0.1, 0.4]))
    both = np.sqrt((0.5 * 0.01 + 1 * 0.16) / 1.5)
    np.testing.assert_allclose(strain[:4], [0.1, both, both, 0.4])
    assert np.isnan(strain[4])


def test_strain_colors():
    colors = strain_colors(np.array([0, 0.04, 1.0, 7.0, np.nan]))
    assert (colors[0] == colors[1]).all() and (colors[2] == colors[3]).all()
    assert tuple(colors[4]) == NO_COLOR


def read_png(content):
    """(height, width, 3 or 4) of a PNG of 8 bits without interlacing, according to the PNG
    specification."""
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    place, chunks = 8, {}
    while place < len(content):
        (length,) = struct.unpack(">I", content[place : place + 4])
        kind, body = content[place + 4 : place + 8], content[place + 8 : place + 8 + length]
        (check,) = struct.unpack(">I", content[place + 8 + length : place + 12 + length])
        assert check == zlib.crc32(kind + body)
        chunks[kind], place = chunks.get(kind, b"") + body, place + 12 + length
    width, height, depth, color, *rest = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    size = {2: 3, 6: 4}[color]
    assert (depth, rest, list(chunks)[-1]) == (8, [0, 0, 0], b"IEND")
    data, stride, lines = zlib.decompress(chunks[b"IDAT"]), width * size + 1, []
    above = bytes(stride - 1 + size)
    for row in range(height):
        kind, *line = data[row * stride : (row + 1) * stride]
        above = bytes(size) + unfiltered(kind, line, above, size)
        lines.append(np.frombuffer(above[size:], np.uint8))
    return np.reshape(lines, (height, width, size))


def unfiltered(kind, line, above, size):
    """A decoded line; `above` is the line above it, preceded by one pixel outside the picture."""
    out = bytearray(size)
    for k, value in enumerate(line):
        a, b, c = out[k], above[k + size], above[k]
        p = a + b - c
        paeth = min((a, b, c), key=lambda guess: abs(p - guess))
        out.append((value + (0, a, b, (a + b) // 2, paeth)[kind]) & 255)
    return bytes(out[size:])


def test_png():
    rng = np.random.default_rng(3)
    pixels = rng.integers(0, 256, (11, 7, 4)).astype(np.uint8)
    pixels[2:5, 1:4, 3] = 0
    found = read_png(png(pixels))
    np.testing.assert_array_equal(found[..., 3], pixels[..., 3])
    seen = pixels[..., 3] > 0
    assert np.abs(found[seen][:, :3] - pixels[seen][:, :3].astype(int)).max() <= 2
    assert (found[~seen] == 0).all()


def test_a_camera_keeps_its_scale():
    camera = Camera(np.eye(3), np.zeros(2), 10.0, 40, 20)
    xy, depths = camera.project(np.array([(1, 0.5, 7.0)]))
    np.testing.assert_allclose(xy, [(30, 5)])
    assert depths[0] == 7
