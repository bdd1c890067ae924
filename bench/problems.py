"""Provides the characters of the benchmark: the generated one and the characters of
../shared/data."""

import sys
from dataclasses import dataclass

import araplbs
import numpy as np
from in_blender import BUILD, run_in_blender
from paths import DATA

FOLDER = BUILD / "problems"
LIMIT = 1800  # seconds for all of them


def characters(names):
    """{name: path} of the requested characters, or of all."""
    found = {"generated": "generated"}
    if DATA.is_dir():
        found.update({path.stem: str(path) for path in sorted(DATA.glob("*.blend"))})
    else:
        print(f"no {DATA}: only the generated character is measured", flush=True)
    unknown = set(names) - set(found)
    if unknown:
        sys.exit(f"bench: no character {', '.join(sorted(unknown))}; there are {', '.join(found)}")
    return {name: path for name, path in found.items() if not names or name in names}


@dataclass
class Problem:
    """The arguments of a Solver for a character, and the poses for evaluating its weights."""

    name: str
    arguments: dict
    unseen: np.ndarray  # (p, m, 3, 4) random poses that no optimization has seen
    animation: np.ndarray | None  # (p, m, 4, 4)

    @property
    def vertices(self):
        return len(self.arguments["vertices"])

    @property
    def bones(self):
        return int(np.sum(self.arguments["bone_deform"]))

    def solver(self, **options):
        return araplbs.Solver(**{**self.arguments, **options})

    def energy(self, weights, poses):
        a = self.arguments
        return araplbs.energy(
            a["vertices"], a["triangles"], weights, poses, edges=a["edges"], threads=0
        )


def load(name):
    with np.load(FOLDER / f"{name}.npz") as file:
        arrays = dict(file)
    prefix = "arguments."
    given = {k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)}
    arguments = {k: v for k, v in given.items() if "." not in k}
    for key in sorted(k for k in given if "." in k):
        whole = key.split(".")[0]
        arguments[whole] = (*arguments.get(whole, ()), given[key])
    return Problem(name, arguments, arrays["unseen"], arrays.get("animation"))


def is_current(name, zip_path):
    file = FOLDER / f"{name}.npz"
    return file.exists() and file.stat().st_mtime > zip_path.stat().st_mtime


def problems(zip_path, names):
    """The problems of the requested characters, one after another; Blender creates problems that
    are missing or older than the extension."""
    paths = characters(names)
    old = [path for name, path in paths.items() if not is_current(name, zip_path)]
    if old:
        error = run_in_blender("dump.py", zip_path, FOLDER, *old, limit=LIMIT)
        if error:
            sys.exit(f"bench: the characters could not be read: {error}")
    for name in paths:
        yield load(name)
