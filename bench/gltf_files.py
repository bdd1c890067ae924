"""Runs the command `araplbs weight` on .glb, .gltf and .vrm files of public repositories, and
reports which files it weights, whether seams stay closed, and the run time in the shell.

gltf_files.py ZIP OUTPUT_FOLDER [FILE...]     (called by bench.py)

The files come from the folder that the environment variable GLTF names (`make bench PART=gltf
GLTF=folder`). Without GLTF, they are the files listed in ../shared/wild/sources.tsv, which get.sh
there copies. A seam is a position shared by vertices of several primitives. The seam is torn if
half of the sum of the differences of their weights is above 0.05. tests/package/gltf_validity.py
checks the validity of the output; this checker covers a part of what the official validator
does."""

import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import paths
from in_blender import BUILD
from results import say, table, write_page

sys.path.append(str(paths.TESTS / "package"))
sys.path.append(str(paths.ROOT))  # the package, with the engine of `make build`
from araplbs.base.refusal import Refused
from araplbs.gltf.character import load_characters
from gltf_validity import new_faults

FOLDER = BUILD / "gltf"
TORN = 0.05
TRIES = 3  # runs, of which the fastest counts
SIZE = 8000  # vertices of the character whose time is asked for
NOTE = """\
The test runs `araplbs weight FILE -o OUT.glb` with default settings on all processors.

- **Seams**: the number of positions that vertices of several primitives share.
- **Torn**: the number of seams at which weights differ by more than 0.05, in the file / in the
  output.
- **New faults**: the number of faults that our own format validator finds in the output but not
  in the input.
- **Seconds**: wall-clock time in the shell, including the startup of Python, as the fastest of
  3 runs.
- **Of processors**: processor time in seconds, which depends less on other work on the machine."""


def seams(path):
    """(positions with vertices of several primitives, torn ones, vertices)"""
    count = torn = vertices = 0
    for character in load_characters(path):
        points = np.concatenate([mesh.vertices for mesh in character.meshes])
        bones, owner, rows = len(character.skeleton.names), [], []
        for number, (mesh, skinned, own) in enumerate(
            zip(character.meshes, character.skinned, character.weights, strict=True)
        ):
            dense = np.zeros((len(mesh.vertices), bones))
            dense[own.vertices, own.bones] = own.weights
            rows.append(dense)
            first = [part.first for part in skinned.primitives]
            at = np.arange(len(mesh.vertices))
            owner.append(1000 * number + np.searchsorted(first, at, side="right"))
        vertices += len(points)
        dense, owner = np.concatenate(rows), np.concatenate(owner)
        size = float(np.ptp(points, axis=0).max()) or 1.0
        _each, place = np.unique(np.round(points / (1e-6 * size)), axis=0, return_inverse=True)
        order = np.argsort(place.ravel(), kind="stable")
        for group in np.split(order, np.flatnonzero(np.diff(place.ravel()[order])) + 1):
            if len(set(owner[group])) > 1:
                apart = np.abs(dense[group] - dense[group[0]]).sum(1).max() / 2
                count, torn = count + 1, torn + (apart > TORN)
    return count, int(torn), vertices


def run(path, output):
    """(seconds, processor seconds, error or "") of the command in a process of its own."""
    environment = os.environ | {"PYTHONPATH": str(paths.ROOT)}
    environment.pop("OPENBLAS_NUM_THREADS", None)
    start, used = time.perf_counter(), processor_time()
    done = subprocess.run(
        [sys.executable, "-m", "araplbs", "weight", str(path), "-o", str(output), "-q"],
        capture_output=True, text=True, check=False, env=environment,
    )  # fmt: skip
    seconds, used = time.perf_counter() - start, processor_time() - used
    lines = done.stderr.strip().splitlines()
    return seconds, used, lines[-1].partition(f"{path}: ")[2] if done.returncode else ""


def processor_time():
    """Processor seconds of all ended processes."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(path):
    """A row, or (message of a refusal,)."""
    output = FOLDER / f"{path.stem}.glb"
    tried = [run(path, output)]
    if tried[0][2]:
        return (tried[0][2],)
    tried += [run(path, output) for _more in range(TRIES - 1)]
    before, after = seams(path), seams(output)
    new = [fault for fault in new_faults(path, output) if "is not used" not in fault]
    return (
        *(after[2], before[0], f"{before[1]} / {after[1]}", len(new)),
        f"{min(seconds for seconds, _used, _error in tried):.2f}",
        f"{min(used for _seconds, used, _error in tried):.2f}",
    )


def main(_zip, output, *asked):
    root = Path(os.environ.get("GLTF") or os.environ.get("WILD") or paths.SHARED / "wild/files")
    FOLDER.mkdir(parents=True, exist_ok=True)
    lines, refused, absent = [], [], []
    files = [p for p in sorted(root.glob("*")) if p.suffix.lower() in (".glb", ".gltf", ".vrm")]
    files = [path for path in files if not asked or path.name in asked]
    for path in files:
        try:
            row = measure(path)
        except (Refused, ValueError) as error:
            absent.append(f"{path.name}: {error}")
            continue
        say(path.name, *row)
        if len(row) == 1:
            refused.append([path.name, row[0]])
        else:
            lines.append([path.name, *row])
    if not lines:
        say("bench: nothing for the part gltf; its page stays")
        return 0
    torn = sum(int(line[3].split("/")[1]) for line in lines)
    faults = sum(line[4] for line in lines)
    near = min(lines, key=lambda line: abs(line[1] - SIZE))
    summary = (
        f"{len(lines)} of {len(files)} files were weighted, and {len(refused)} were refused with "
        f"an explanation. The output has {torn} torn seams and {faults} new faults. {near[0]} has "
        f"{near[1]:,} vertices and takes {near[5]} s of wall-clock time and {near[6]} s of "
        "processor time."
    )
    head = ["file", "vertices", "seams", "torn", "new faults", "seconds", "of processors"]
    blocks = [NOTE, summary, table(head, lines)]
    if refused:
        blocks.append(table(["refused", "the sentence"], refused))
    write_page(Path(output), "gltf", "glTF files without Blender", *blocks, *absent)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
