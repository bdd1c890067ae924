"""Saves characters as arrays, so the engine can be measured without Blender:

dump.py ZIP FOLDER CHARACTER...     CHARACTER: "generated" or a .blend file; in a headless Blender

FOLDER/NAME.npz contains the arguments of araplbs.Solver ("arguments.vertices" and so on; the parts
of a tuple are "arguments.symmetry.0" and so on), `unseen` poses for evaluating weights and, if the
character has any, the poses of its `animation`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "demo"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import compare
import measure
import numpy as np


def main(zip_path, folder, *names):
    compare.install_extension(zip_path)
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name in names:
        character = compare.Character(*measure.load(name))
        arrays = {}
        for key, value in character.task.problem.arguments.items():
            if isinstance(value, tuple):
                arrays |= {f"arguments.{key}.{k}": part for k, part in enumerate(value)}
            elif value is not None:
                arrays[f"arguments.{key}"] = value
        if character.animation is not None:
            arrays["animation"] = character.animation
        np.savez(Path(folder) / f"{Path(name).stem}.npz", unseen=character.poses, **arrays)


if __name__ == "__main__":
    main(*sys.argv[sys.argv.index("--") + 1 :])
