"""Writes the presets of Auto-weight (araplbs/disk/presets.py) as the files that Blender reads.

usage: preset_files.py FOLDER
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from araplbs.disk.presets import FOLDER, preset_files
from araplbs.model.options import Options

folder = Path(sys.argv[1], FOLDER)
folder.mkdir(parents=True, exist_ok=True)
for name, text in preset_files(Options().as_dict()).items():
    (folder / name).write_text(text, encoding="utf-8")
