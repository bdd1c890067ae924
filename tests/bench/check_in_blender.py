"""Findings about the weights of a file, about those of Blender's bone heat and about ours:

check_in_blender.py ZIP CHARACTER.blend RESULT.json      in a headless Blender

RESULT.json: {"artist", "heat", "ours": {"health", "kinds", "seconds", "high"}}, and the seconds of
the operator Auto-weight, each the fastest of several runs."""

import json
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "demo"))

import bpy
import compare

RUNS = int(os.environ.get("BENCH_RUNS", "3"))


def checked(armature, meshes):
    """What Check Weights finds, and the seconds that it takes with all reading."""
    tasks = compare.part("features.check.task")
    targets = compare.part("blender.read.targets").Targets(armature, meshes)
    options = compare.package("model.options").Options()
    best = float("inf")
    for _ in range(RUNS):
        start = time.perf_counter()
        task = tasks.CheckTask(options)
        task.read(targets, bpy.context.view_layer)
        task.solve()
        best = min(best, time.perf_counter() - start)
    report = task.apply()
    kinds, places = {}, report["objects"]
    high = [
        {**{key: found[key] for key in ("kind", "vertices", "words")},
         "mesh": places.index(found["mesh"])}
        for found in report["findings"] if found["level"] == "high"
    ]  # fmt: skip
    for found in report["findings"]:
        levels = kinds.setdefault(found["kind"], dict.fromkeys(report["health"], 0))
        levels[found["level"]] += 1
    return {"health": report["health"], "kinds": kinds, "seconds": best, "high": high}


def main(zip_path, blend, result):
    compare.install_extension(zip_path)
    armature, meshes = compare.open_largest(blend)
    found = {"artist": checked(armature, meshes)}
    character = compare.Character(armature, meshes)
    _outcome, copies = compare.blender_weights(character)
    found["heat"] = checked(armature, copies)
    compare.remove(copies)
    seconds = float("inf")
    for _ in range(RUNS):
        outcome, copies = compare.our_weights(character)
        seconds = min(seconds, outcome.seconds)
        found["ours"] = checked(armature, copies)
        compare.remove(copies)
    found["auto_weight"] = seconds
    found["vertices"] = sum(len(ob.data.vertices) for ob in meshes)
    Path(result).write_text(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[sys.argv.index("--") + 1 :])
