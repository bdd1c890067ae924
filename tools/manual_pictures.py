"""Crops the pictures of the manual from the screenshots of the window tests, and records the words
in each picture. tests/package/house/test_manual.py uses these words to detect outdated pictures.

manual_pictures.py [FOLDER]     default: build/test/sid-gui, from `tests/run.sh sid-gui`. The
script requires ImageMagick, as these tests do.
"""

import ast
import json
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT))

MANUAL = ROOT / "docs/manual"

# Left, top, right and bottom in a window of 1280 x 800 pixels.
VIEW = 0, 27, 1050, 720
TAB = 766, 83, 1050, 625

# For each picture: the screenshot of a test, the region to crop, and the name in the manual.
PICTURES = (
    ("first-screen", VIEW, "first_screen"),
    ("second-result", TAB, "first_result"),
    ("first-session", VIEW, "first_session"),
    ("check-character", VIEW, "check"),
    ("control-bones", VIEW, "control_bones"),
    ("joints-panel", VIEW, "joints_panel"),
    ("joints-arm", VIEW, "joint_ghosts"),
)
# The files, relative to panels/, that draw the content of each picture or contain its sentences.
DRAWN_BY = {
    "first_screen": ("main_panel.py",),
    "first_result": ("main_panel.py", "result_box.py"),
    "first_session": ("session_box.py", "../features/edits/tools.py"),
    "check": ("check_panel.py", "../../araplbs/features/check/kinds.py"),
    "control_bones": ("bones_panel.py",),
    "joints_panel": ("../features/joints/panel.py",),
    "joint_ghosts": ("../operators/live_operator.py",),
}
WORDS = MANUAL / "pictures.json"
TEXTS = {"text", "title"}  # arguments
NAMES = {"bl_label", "short"}  # of a class


def words(picture):
    """Return the sorted words and setting names in the code that draws the panels of a picture."""
    from araplbs.model.options import Options

    found = set()
    for file in DRAWN_BY[picture]:
        for node in ast.walk(ast.parse((ROOT / "araplbs_addon/panels" / file).read_text("utf-8"))):
            if isinstance(node, ast.keyword) and node.arg in TEXTS:
                found |= _constants(node.value)
            elif isinstance(node, ast.Assign):
                if {getattr(target, "id", "") for target in node.targets} & NAMES:
                    found |= _constants(node.value)
            elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "prop":
                found |= {name for each in node.args[1:] for name in _constants(each)}
            elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Sentence":
                found |= _constants(node.args[0])
            elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Kind":
                found |= _constants(node.args[3])  # its cause
    labels = {option.name: option.metadata["name"] for option in fields(Options)}
    return sorted(labels.get(name, name) for name in found)


def _constants(node):
    return {
        each.value.strip()
        for each in ast.walk(node)
        if isinstance(each, ast.Constant) and isinstance(each.value, str) and each.value.strip()
    }


def main(folder=ROOT / "build/test/sid-gui"):
    from araplbs.reports.pictures import png

    for picture, part, name in PICTURES:
        left, top, right, bottom = part
        pixels = read(Path(folder) / f"{picture}.png")[top:bottom, left:right]
        opaque = np.full((*pixels.shape[:2], 1), 255, np.uint8)
        (MANUAL / f"{name}.png").write_bytes(png(np.concatenate([pixels, opaque], axis=2)))
    known = {name: words(name) for name in DRAWN_BY}
    WORDS.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read(path):
    """Read an image as (height, width, 3) uint8."""
    data = subprocess.run(["convert", str(path), "ppm:-"], check=True, capture_output=True).stdout
    _kind, width, height, _most = data.split(None, 4)[:4]
    shape = int(height), int(width), 3
    return np.frombuffer(data, np.uint8)[-np.prod(shape) :].reshape(shape)


if __name__ == "__main__":
    main(*sys.argv[1:])
