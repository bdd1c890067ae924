"""Calls that are ended at a random moment: the command with and without --jobs, and a tool of the
MCP server, by a signal to the process that was started.

Nothing is written after its end. All processes that it has started end as well, the inputs stay as
they are, and an output is whole or absent. Linux only.

`python tests/package/fuzzing_ended.py SECONDS [FIRST_SEED]` and `=SEED`, as for fuzzing.py."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))

import araplbs
import fuzzing
import gltf_files
import numpy as np
import shapes
from fuzzing import promise
from paths import environment
from patience import HANGS, wait_until

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGKILL)
LATEST = 4.0  # seconds after the start
NEARLY = 0.2  # seconds: an output that was nearly there may follow a kill
CALL = """
from araplbs.mcp import calls
calls.weigh("0.glb", "out/0.glb", {"random_poses": 300})
"""
WAYS = {
    "weight": ["-m", "araplbs", "weight", "0.glb", "-o", "out/", "--random-poses", "300"],
    "jobs": ["-m", "araplbs", "weight", *(f"{k}.glb" for k in range(4)), "-o", "out/",
             "--jobs", "2", "--random-poses", "100"],
    "mcp": ["-c", CALL],
}  # fmt: skip


def write_inputs(folder):
    """Four characters, each of which takes some seconds."""
    vertices, triangles = shapes.tube(40, 250, height=2.0)
    for k in range(4):
        glb = gltf_files.Glb()
        glb.bind(glb.part(glb.attributes(vertices), triangles), glb.joints())
        glb.write(folder / f"{k}.glb")


def left_of(session):
    """The processes of a session."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _parent, _group, own = stat.read_text().rpartition(")")[2].split()[:4]
        except OSError:  # it has ended
            continue
        if int(own) == session and state != "Z":
            found.append(int(stat.parent.name))
    return found


def files_of(folder):
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*.*")}


def run(seed):
    """The outcome, "way: signal"; raises Broken if a guarantee is broken."""
    rng = np.random.default_rng([seed, 80])
    way = str(rng.choice(list(WAYS)))
    number = SIGNALS[int(rng.integers(len(SIGNALS)))]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "out").mkdir()
        write_inputs(folder)
        inputs = files_of(folder)
        process = subprocess.Popen(
            [sys.executable, *WAYS[way]], cwd=folder, env=environment(), start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            time.sleep(rng.uniform(0, LATEST))
            process.send_signal(number)
            process.wait(HANGS)
            time.sleep(NEARLY)
            at_end = files_of(folder)
            wait_until(lambda: not left_of(process.pid), f"{way}, {number.name}: a process is left")
        finally:
            for each in left_of(process.pid):
                os.kill(each, signal.SIGKILL)
        made = files_of(folder)
        late = sorted(path.name for path, _when in made.items() - at_end.items())
        promise(not late, f"{way}, {number.name}: written after the end: {late}")
        promise(inputs.items() <= made.items(), f"{way}, {number.name}: an input changed")
        for path in folder.glob("out/*.glb"):
            if not path.name.startswith("."):
                promise(araplbs.load_gltf(path).characters, path.name)
    return f"{way} {number.name}: ended"


if __name__ == "__main__":
    sys.exit(fuzzing.main(*sys.argv[1:], run=run))
