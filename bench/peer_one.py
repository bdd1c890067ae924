"""Computes the weights of a character by one method outside of Blender, in a process of its own.

peer_one.py METHOD MODEL.npz RESULT.npz

METHOD: "igl", libigl's bounded biharmonic weights on tets, or one of araplbs.baseline_weights.
RESULT.npz contains the weights (vertices, bones of the model), the seconds and the version. If
something goes wrong, the process ends with a line that states it."""

import importlib.metadata
import sys
import time
from pathlib import Path

import araplbs
import igl
import numpy as np
import tets

ACTIVE_SET = 8  # iterations at most, as in libigl's tutorial
OURS = {"our_heat": "heat"}  # the module's name, if it differs


def version_of(*packages):
    return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in packages)


def of_all_bones(model, weights):
    """(vertices, bones) from weights of only the deforming bones."""
    result = np.zeros((len(model["V"]), len(model["bone_head"])))
    result[:, model["bone_deform"].astype(bool)] = weights
    return result


def biharmonic(model):
    """libigl's tolerances are absolute, so the character is scaled to size 1."""
    deform = model["bone_deform"].astype(bool)
    vertices = model["V"].astype(float)
    size = np.ptp(vertices, axis=0).max()
    heads, tails = model["bone_head"][deform] / size, model["bone_tail"][deform] / size
    nodes, tetrahedra, place, handles, owners = tets.fill(
        vertices / size, model["F"], heads.astype(float), tails.astype(float)
    )
    with_handle = np.unique(owners)  # bones that are nowhere inside have none, and no weights
    targets = (owners[:, None] == with_handle).astype(float)
    found = np.zeros((len(nodes), len(heads)))
    found[:, with_handle] = igl.bbw(nodes, tetrahedra, handles, targets, max_iter=ACTIVE_SET)
    found = np.maximum(found, 0)
    return of_all_bones(model, (found / found.sum(1, keepdims=True))[place])


def ours(model, method):
    rows = araplbs.baseline_weights(
        model["V"].astype(float), model["F"].astype(np.int64), model["bone_head"].astype(float),
        model["bone_tail"].astype(float), model["bone_parent"].astype(int),
        edges=model.get("wire_edges"), bone_deform=model["bone_deform"].astype(bool),
        method=method, max_influences=0,
    )  # fmt: skip
    start, bones, values = rows
    weights = np.zeros((len(model["V"]), len(model["bone_head"])))
    weights[np.repeat(np.arange(len(weights)), np.diff(start)), bones] = values
    return weights


def main(method, source, target):
    with np.load(source, allow_pickle=True) as file:
        model = dict(file)
    start = time.perf_counter()
    try:
        if method == "igl":
            weights, version = biharmonic(model), version_of("libigl", "tetgen")
        else:
            weights = ours(model, OURS.get(method, method))
            version = f"araplbs {araplbs.__version__}"
    except (tets.NoTets, ValueError, RuntimeError) as error:
        sys.exit(str(error))
    seconds = time.perf_counter() - start
    np.savez_compressed(Path(target), weights=weights, seconds=seconds, version=version)


if __name__ == "__main__":
    main(*sys.argv[1:])
