"""Runs Dem Bones (py-dem-bones) on a sequence of frames, in a Python environment of its own.

dem_bones.py INPUT.npz OUTPUT.npz     (called by weigh)"""

import subprocess
import sys
import time
import venv
from pathlib import Path

import numpy as np

PEER = "py-dem-bones"
INFLUENCES = 4


def peer_python(build):
    """The Python of a virtual environment with the peer, or None if it cannot be installed."""
    python = build / "dem_bones/bin/python"
    if not python.exists():
        venv.create(python.parents[1], with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", PEER, "numpy"], check=False)
    found = subprocess.run([python, "-c", "import py_dem_bones"], check=False)
    return python if found.returncode == 0 else None


def weigh(build, name, problem, limit):
    """(weights, seconds, version), or a line that states what went wrong. problem: vertices,
    triangles, frames (p, n, 3) and transforms (p, m, 3, 4)."""
    python = peer_python(build)
    if python is None:
        return f"{PEER} could not be installed"
    source, target = (build / "dem_bones" / f"{name}.{end}.npz" for end in ("in", "out"))
    np.savez(source, **problem)
    try:
        done = subprocess.run(
            [python, __file__, source, target],
            capture_output=True, text=True, timeout=limit, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"longer than {limit} s"
    if done.returncode:
        return (done.stderr.strip() or f"ended with {done.returncode}").splitlines()[-1]
    with np.load(target) as file:
        return file["weights"], float(file["seconds"]), f"{PEER} {file['version']}"


def main(source, target):
    from importlib.metadata import version

    from py_dem_bones import DemBonesWrapper

    with np.load(source) as file:
        problem = dict(file)
    wrapper = DemBonesWrapper()
    native = wrapper.native_solver
    poses, bones = problem["transforms"].shape[:2]
    wrapper.set_mesh_sequence(
        problem["vertices"], problem["frames"], bone_count=bones,
        faces=problem["triangles"].tolist(),
    )  # fmt: skip
    wrapper.max_influences = INFLUENCES
    native.nIters, native.weightsSmooth = 1, 0.0
    square = np.tile(np.eye(4), (poses, bones, 1, 1))
    square[:, :, :3] = problem["transforms"]
    wrapper.set_transformations(square)
    native.nTransIters = native.nInitIters = 0
    start = time.perf_counter()
    wrapper.compute()
    seconds = time.perf_counter() - start
    weights = np.asarray(wrapper.get_skinning_result().weights).T
    np.savez(Path(target), weights=weights, seconds=seconds, version=version(PEER))


if __name__ == "__main__":
    main(*sys.argv[1:])
