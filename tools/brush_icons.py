"""Creates the icons of the toolbar's brushes in Blender's own format, which consists of triangles.

brush_icons.py [FOLDER]     default: araplbs_addon/features/edits/icons
"""

import math
import struct
import sys
from pathlib import Path

ICONS = Path(__file__).resolve().parents[1] / "araplbs_addon/features/edits/icons"
GRAY, ACCENT = (229, 229, 229, 255), (255, 176, 43, 255)  # the colors of Blender's own tools
HEADER = b"VCO\0" + bytes((255, 255, 0, 0))  # the size of the field and its corner


def polygon(color, *points):
    """Return [(color, three points)] of a convex polygon."""
    return [
        (color, (points[0], points[k], points[k + 1])) for k in range(1, len(points) - 1)
    ]  # fmt: skip


def disc(color, x, y, radius, corners=20):
    around = [2 * math.pi * k / corners for k in range(corners)]
    return polygon(color, *((x + radius * math.cos(a), y + radius * math.sin(a)) for a in around))


def bar(color, begin, end, wide):
    across = math.atan2(end[1] - begin[1], end[0] - begin[0]) + math.pi / 2
    dx, dy = wide / 2 * math.cos(across), wide / 2 * math.sin(across)
    sides = ((begin, 1), (end, 1), (end, -1), (begin, -1))
    return polygon(color, *((x + side * dx, y + side * dy) for (x, y), side in sides))


def pin():
    """Return a pushpin and the point that it holds."""
    return [
        *disc(ACCENT, 128, 62, 18),
        *polygon(GRAY, (128, 62), (117, 132), (139, 132)),
        *polygon(GRAY, (84, 128), (172, 128), (156, 150), (100, 150)),
        *polygon(GRAY, (104, 150), (152, 150), (160, 196), (96, 196)),
    ]


def influence():
    """Return a bone and a plus sign."""
    return [
        *polygon(GRAY, (104, 208), (140, 108), (104, 56), (68, 108)),
        *bar(ACCENT, (150, 176), (206, 176), 16),
        *bar(ACCENT, (178, 148), (178, 204), 16),
    ]


def smooth():
    """Return weights that rise and fall smoothly."""
    heights = (28, 62, 108, 132, 108, 62, 28)
    found = []
    for k, height in enumerate(heights):
        x = 50 + 26 * k
        color = ACCENT if height > 100 else GRAY
        found += bar(color, (x, 60), (x, 60 + height), 18)
    return found


def release():
    """Return the two ends of a tie that has been cut."""
    return [
        *disc(GRAY, 66, 76, 24),
        *disc(GRAY, 190, 180, 24),
        *bar(GRAY, (66, 76), (108, 111), 14),
        *bar(GRAY, (148, 145), (190, 180), 14),
        *bar(ACCENT, (104, 156), (152, 100), 14),
    ]


def link():
    """Return two ends that are tied together."""
    return [
        *bar(ACCENT, (66, 76), (190, 180), 16),
        *disc(GRAY, 66, 76, 26),
        *disc(GRAY, 190, 180, 26),
    ]


DRAWN = {"pin": pin, "influence": influence, "smooth": smooth, "release": release, "link": link}


def content(triangles):
    """Return the content of the file: the corners of all triangles, then their colors."""
    corners = [round(value) for _color, points in triangles for point in points for value in point]
    shades = [value for color, points in triangles for _point in points for value in color]
    return HEADER + struct.pack(f"{len(corners)}B", *corners) + bytes(shades)


def main(folder=ICONS):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in DRAWN.items():
        (folder / f"{name}.dat").write_bytes(content(draw()))


if __name__ == "__main__":
    main(*sys.argv[1:])
