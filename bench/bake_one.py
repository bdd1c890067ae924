"""One row of the benchmark of baking, in a process of its own to measure its peak memory.

bake_one.py ours|dem_bones INPUT.npz OUTPUT.json

INPUT: vertices, triangles, frames (p, n, 3), transforms (p, m, 3, 4) or new_bones, and iterations;
instead of frames, `path` can name a .npy file that is read frame by frame. OUTPUT.npz gets the
weights and transforms. The script needs NumPy, and either the module araplbs or py-dem-bones."""

import importlib.metadata
import json
import re
import sys
import time
from pathlib import Path

import numpy as np

INFLUENCES = 4


def peak_memory():
    """The peak memory of this process in bytes; unlike ru_maxrss, this excludes memory of its
    parent."""
    text = Path("/proc/self/status").read_text(encoding="ascii")
    return 1024 * int(re.search(r"VmHWM:\s+(\d+)", text).group(1))


class Frames:
    """The frames of a file, which do not stay in memory."""

    def __init__(self, path):
        self.path = path

    def __len__(self):
        return len(np.load(self.path, mmap_mode="r"))

    def __getitem__(self, index):
        return np.array(np.load(self.path, mmap_mode="r")[index])


def ours(problem):
    import araplbs

    given = {"transforms": problem["transforms"]} if "transforms" in problem else {}
    start = time.perf_counter()
    result = araplbs.bake(
        problem["vertices"], problem["frames"], **given, triangles=problem["triangles"],
        new_bones=int(problem.get("new_bones", 0)), max_influences=INFLUENCES,
        iterations=int(problem["iterations"]), tolerance=0.0, smoothness=0.0,
    )  # fmt: skip
    seconds = time.perf_counter() - start
    start, bones, values = result["weights"]
    weights = np.zeros((len(start) - 1, result["transforms"].shape[1]))
    weights[np.repeat(np.arange(len(weights)), np.diff(start)), bones] = values
    return seconds, result["iterations"], weights, result["transforms"]


def dem_bones(problem):
    from py_dem_bones import DemBonesWrapper

    wrapper = DemBonesWrapper()
    native = wrapper.native_solver
    iterations = int(problem["iterations"])
    given = "transforms" in problem
    count = problem["transforms"].shape[1] if given else int(problem["new_bones"])
    wrapper.max_influences = INFLUENCES
    wrapper.set_mesh_sequence(
        problem["vertices"], np.array(list(problem["frames"]), float), bone_count=count,
        faces=problem["triangles"].tolist(),
    )  # fmt: skip
    wrapper.max_influences = INFLUENCES
    native.nIters = iterations
    native.weightsSmooth = 0.0
    if given:
        square = np.tile(np.eye(4), (*problem["transforms"].shape[:2], 1, 1))
        square[:, :, :3] = problem["transforms"]
        wrapper.set_transformations(square)
        native.nTransIters = 0
        native.nInitIters = 0
    start = time.perf_counter()
    wrapper.compute()
    seconds = time.perf_counter() - start
    result = wrapper.get_skinning_result()
    weights, transforms = result.weights, result.transforms
    return seconds, iterations, np.asarray(weights).T, np.asarray(transforms)[:, :, :3]


def main(way, source, target):
    with np.load(source) as file:
        problem = dict(file)
    if "path" in problem:
        problem["frames"] = Frames(str(problem["path"]))
    before = peak_memory()
    seconds, iterations, weights, transforms = {"ours": ours, "dem_bones": dem_bones}[way](problem)
    grown = peak_memory() - before
    points = np.column_stack([problem["vertices"], np.ones(len(problem["vertices"]))])
    total, most = 0.0, 0.0
    for frame, pose in zip(problem["frames"], transforms, strict=True):
        moved = np.einsum("brc,nc->nbr", pose, points, optimize=True)
        off = (np.einsum("nb,nbr->nr", weights, moved) - frame) ** 2
        total += off.sum()
        most = max(most, off.sum(1).max())
    size = np.linalg.norm(np.ptp(problem["vertices"], axis=0))
    row = {
        "seconds": seconds, "iterations": iterations,
        "grown": grown, "worst_sum": float(np.abs(weights.sum(1) - 1).max()),
        "influences": int((weights > 1e-9).sum(1).max()),
        "rms": float(np.sqrt(total / len(transforms) / len(points)) / size),
        "max": float(np.sqrt(most) / size),
    }  # fmt: skip
    if way == "dem_bones":
        row["version"] = importlib.metadata.version("py-dem-bones")
    np.savez(Path(target).with_suffix(".npz"), weights=weights, transforms=transforms)
    with open(target, "w", encoding="ascii") as file:
        json.dump(row, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
