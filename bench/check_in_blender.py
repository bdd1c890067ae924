"""Finds faults in the weights of a file, in Blender's bone heat weights, and in ours:

check_in_blender.py ZIP CHARACTER.blend RESULT.json      in a headless Blender

RESULT.json: {"artist", "heat", "ours": {"health", "kinds", "seconds", "findings"}}, and the seconds
of the operator Auto-weight, each the fastest of several runs. All three are evaluated in the poses
used for the file's own weights, because the check would otherwise not pose bones that Auto-weight
leaves out."""

import json
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "demo"))

import bpy
import compare

RUNS = int(os.environ.get("BENCH_RUNS", "3"))


def checked(armature, meshes, poses=None):
    """({"health", "kinds", "seconds", "findings"}, poses): the findings of Check Weights in these
    poses, or in the check's own poses; and the check's run time in its own poses, including
    reading."""
    tasks = compare.part("features.check.task")
    check = compare.package("features.check.check").check
    plain = compare.package("features.check.findings")
    targets = compare.part("blender.read.targets").Targets(armature, meshes)
    options = compare.package("model.options").Options()
    best = float("inf")
    for _ in range(RUNS):
        start = time.perf_counter()
        task = tasks.CheckTask(options)
        task.read(targets, bpy.context.view_layer)
        task.solve()
        best = min(best, time.perf_counter() - start)
    found = task.findings
    if poses is not None:
        found = check(task.problem, task.rows, poses, task.options)
    kinds = {}
    for each in found:
        levels = kinds.setdefault(each.kind, dict.fromkeys(plain.LEVELS, 0))
        levels[plain.level(each.severity)] += 1
    places = [
        {"kind": each.kind, "level": plain.level(each.severity), "severity": each.severity,
         "mesh": each.mesh, "vertices": each.vertices.tolist(), "words": each.words}
        for each in found
    ]  # fmt: skip
    result = {"health": plain.health(found), "kinds": kinds, "seconds": best, "findings": places}
    return result, task.judged_poses if poses is None else poses


def main(zip_path, blend, result):
    compare.install_extension(zip_path)
    armature, meshes = compare.open_largest(blend)
    artist, poses = checked(armature, meshes)
    found = {"artist": artist}
    character = compare.Character(armature, meshes)
    _outcome, copies = compare.blender_weights(character)
    found["heat"], _poses = checked(armature, copies, poses)
    compare.remove(copies)
    seconds = float("inf")
    for _ in range(RUNS):
        outcome, copies = compare.our_weights(character)
        seconds = min(seconds, outcome.seconds)
        found["ours"], _poses = checked(armature, copies, poses)
        compare.remove(copies)
    found["auto_weight"] = seconds
    found["vertices"] = sum(len(ob.data.vertices) for ob in meshes)
    Path(result).write_text(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[sys.argv.index("--") + 1 :])
