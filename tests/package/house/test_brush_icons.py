"""The icon files of the brushes equal the icons that tools/brush_icons.py draws."""

import brush_icons
import numpy as np
import pytest


@pytest.mark.parametrize("name", brush_icons.DRAWN)
def test_files_are_as_drawn(name):
    data = (brush_icons.ICONS / f"{name}.dat").read_bytes()
    assert data == brush_icons.content(brush_icons.DRAWN[name]())
    assert data.startswith(b"VCO\0") and (len(data) - 8) % 18 == 0
    count = (len(data) - 8) // 18
    corners = np.frombuffer(data, np.uint8, 6 * count, 8).reshape(count, 3, 2).astype(int)
    assert corners.min() >= 30 and corners.max() <= 225, "within the field of Blender's own"
    first, second = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    areas = first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0]
    assert (areas != 0).all()


def test_all_differ():
    files = [path.read_bytes() for path in brush_icons.ICONS.glob("*.dat")]
    assert len(files) == len(set(files)) == len(brush_icons.DRAWN) == 5
