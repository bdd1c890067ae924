"""Weights characters with Blender's automatic weights and with ours, in one headless Blender:

measure.py ZIP RESULT.jsonl LEVELS CHARACTER...     CHARACTER: "generated" or a .blend file

Each character is weighted unchanged and, for each other number in LEVELS ("0,1"), subdivided that
many times, unless this creates more than MOST vertices. The methods alternate, and the fastest run
of each counts, separately for wall-clock and processor time. Each case adds a line of JSON with the
times of both methods and the numbers of vertices without weights."""

import ctypes
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "demo"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import bpy
import character as generated
import compare
import numpy as np
from seen_weights import Character

MOST = 60_000  # vertices of subdivided ones
MANY, RUNS, FEW_RUNS = 5_000, 5, 3  # vertices, runs below so many and above


def unweighted(meshes):
    """The number of vertices of faces without a group."""
    count = 0
    for ob in meshes:
        corners = np.empty(len(ob.data.loops), np.int32)
        ob.data.loops.foreach_get("vertex_index", corners)
        vertices = ob.data.vertices
        count += sum(
            not any(group.weight > 0 for group in vertices[k].groups)
            for k in np.unique(corners).tolist()
        )
    return count


def trim():
    """Returns free memory to the system if possible, so that peak memory counts from there."""
    give_back = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if give_back:
        give_back(0)


def load(name):
    if name == "generated":
        bpy.ops.wm.read_homefile(use_empty=True)
        return generated.make_character()
    return compare.open_largest(name)


def subdivide(meshes, levels):
    """Applies Catmull-Clark subdivision; vertex groups are interpolated."""
    for ob in meshes:
        if ob.data.users > 1:
            ob.data = ob.data.copy()
        if ob.data.shape_keys:
            ob.shape_key_clear()
        armatures = [m for m in ob.modifiers if m.type == "ARMATURE"]
        for modifier in armatures:
            modifier.show_viewport = False
        modifier = ob.modifiers.new("Levels", "SUBSURF")
        modifier.levels = levels
        bpy.context.view_layer.update()
        evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
        dense = bpy.data.meshes.new_from_object(evaluated)
        ob.modifiers.remove(modifier)
        ob.data = dense
        for modifier in armatures:
            modifier.show_viewport = True
    bpy.context.view_layer.update()


def fastest(runs):
    """The last of several outcomes, with the shortest times and the largest memory of all."""
    ended = runs[-1]
    for key, pick in (("seconds", min), ("processor_seconds", min), ("more_bytes", max)):
        setattr(ended, key, pick(getattr(run, key) for run in runs))
    return ended


def measure(name, levels):
    """One case as a dictionary; None if it would be too large."""
    armature, meshes = load(name)
    if levels:
        if sum(len(ob.data.vertices) for ob in meshes) * 4**levels > MOST:
            return None
        subdivide(meshes, levels)
    character = Character(armature, meshes)
    count = sum(len(ob.data.vertices) for ob in meshes)
    row = {
        "character": Path(name).stem,
        "levels": levels,
        "vertices": count,
        "bones": int(character.skeleton.deform.sum()),
        "blender_version": bpy.app.version_string,
    }
    ways = {"blender": compare.blender_weights, "ours": compare.our_weights}
    runs = {way: [] for way in ways}
    for _turn in range(RUNS if count < MANY else FEW_RUNS):
        for way, weigh in ways.items():
            trim()
            outcome, copies = weigh(character)
            outcome.unweighted = unweighted(copies)
            compare.remove(copies)
            runs[way].append(outcome)
    return {**row, **{way: fastest(each).as_dict() for way, each in runs.items()}}


def main(zip_path, result, levels, *names):
    compare.install_extension(zip_path)
    for name in names:
        for level in map(int, levels.split(",")):
            row = measure(name, level)
            if row:
                with open(result, "a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main(*sys.argv[sys.argv.index("--") + 1 :])
