"""Cuts the pictures of the manual out of those that the tests of the window have made.

manual_pictures.py [FOLDER]     default: build/test/sid-gui, of `tests/run.sh sid-gui`. Needs
ImageMagick, as these tests do.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
MANUAL = ROOT / "docs/manual"

# Left, top, right and bottom in a window of 1280 x 800 pixels.
VIEW = 0, 27, 1050, 720
TAB = 766, 83, 1050, 590

# Of a test, what of it, and the name in the manual.
PICTURES = (
    ("first-screen", VIEW, "first_screen"),
    ("second-result", TAB, "first_result"),
    ("first-session", VIEW, "first_session"),
    ("check-character", VIEW, "check"),
    ("control-bones", VIEW, "control_bones"),
    ("joints-panel", VIEW, "joints_panel"),
)


def main(folder=ROOT / "build/test/sid-gui"):
    from araplbs_addon.core.reports.pictures import png

    for picture, part, name in PICTURES:
        left, top, right, bottom = part
        pixels = read(Path(folder) / f"{picture}.png")[top:bottom, left:right]
        opaque = np.full((*pixels.shape[:2], 1), 255, np.uint8)
        (MANUAL / f"{name}.png").write_bytes(png(np.concatenate([pixels, opaque], axis=2)))


def read(path):
    """(height, width, 3) uint8"""
    data = subprocess.run(["convert", str(path), "ppm:-"], check=True, capture_output=True).stdout
    _kind, width, height, _most = data.split(None, 4)[:4]
    shape = int(height), int(width), 3
    return np.frombuffer(data, np.uint8)[-np.prod(shape) :].reshape(shape)


if __name__ == "__main__":
    main(*sys.argv[1:])
