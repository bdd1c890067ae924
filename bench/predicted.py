"""Runs the command `araplbs weight --from` on the networks' own examples: meshes and rigs as
published by the networks' authors, from the repositories that outside.py names.

predicted.py ZIP OUTPUT_FOLDER [CHARACTER...]     (called by bench.py; OUTSIDE as for outside.py)

The numbers come from the command's own report, in the random poses for which the command optimizes
the weights; outside.py evaluates such weights in other poses."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import outside
import paths
from in_blender import BUILD
from results import say, table, write_page

FOLDER = BUILD / "predicted"
STARTS = ("present", "fresh")
MEASURES = (
    ("stretch %", "surface_strain", 100, ".1f"),
    ("worst 1 % of it", "surface_strain_p99", 100, ".0f"),
    ("limb drift", "limb_drift", 1, ".2f"),
)
NOTE = """\
The test runs `araplbs weight MESH.obj -o OUT.glb --from RIG.txt` on the rigs and weights
published by the authors. Each cell lists the predicted weights / ours, started from the
predicted weights / ours, computed from scratch (`--start-from fresh`)."""


def measure(name, rig, mesh):
    """[[(before, present, fresh)] of each measure], or a line that states what went wrong."""
    found = []
    for start in STARTS:
        output = FOLDER / f"{name}_{start}.glb"
        words = [mesh, "-o", output, "--from", rig, "--start-from", start, "--json", "-", "-q"]
        done = subprocess.run(
            [sys.executable, "-m", "araplbs", "weight", *map(str, words), "--threads", "1"],
            capture_output=True, text=True, check=False,
            env=os.environ | {"PYTHONPATH": str(paths.ROOT)},
        )  # fmt: skip
        if done.returncode:
            return f"{name}: {done.stderr.strip().splitlines()[-1]}"
        found.append(json.loads(done.stdout)["files"][0]["characters"][0])
    present, fresh = found
    states = [present["deformation"]["before"], present["deformation"]["after"]]
    states.append(fresh["deformation"]["after"])
    about = [fresh["vertices"], fresh["deforming_bones"]]
    return about, [[state[key] for state in states] for _title, key, *_form in MEASURES]


def cells(values):
    return [
        " / ".join(format(scale * value, form) for value in each)
        for each, (_title, _key, scale, form) in zip(values, MEASURES, strict=True)
    ]


def main(_zip, output, *asked):
    root = Path(os.environ.get("OUTSIDE") or paths.SHARED / "outside")
    FOLDER.mkdir(parents=True, exist_ok=True)
    lines, numbers, absent = [], [], []
    for source in outside.SETS:
        for name, (rig, mesh) in source.characters(root).items():
            if asked and name not in asked:
                continue
            row = measure(name, rig, mesh)
            if isinstance(row, str):
                absent.append(row)
                continue
            about, values = row
            say(name, *cells(values))
            numbers.append(values)
            lines.append([name, source.weights, *about, *cells(values)])
    for sentence in absent:
        say(sentence)
    if not lines:
        say("bench: nothing for the part predicted; its page stays")
        return 0
    mean = cells(np.mean(numbers, axis=0).tolist())
    head = ["character", "weights", "vertices", "bones", *(title for title, *_rest in MEASURES)]
    lines.append([f"mean of {len(lines)}", "", "", "", *mean])
    write_page(
        Path(output), "predicted", "Rigs predicted by networks", NOTE, table(head, lines), *absent
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
