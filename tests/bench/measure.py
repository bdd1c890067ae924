"""One line of the benchmark, run in a headless Blender of its own so that peak memory is its own:

measure.py ZIP CHARACTER LEVELS RESULT.json     CHARACTER: "generated" or a .blend file

Weights the character, subdivided LEVELS times, with Blender's automatic weights and with ours,
and writes what both took and came to."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "demo"))

import bpy
import character as generated
import compare


def load(name):
    if name == "generated":
        bpy.ops.wm.read_homefile(use_empty=True)
        return generated.make_character()
    return compare.open_largest(name)


def subdivide(meshes, levels):
    """Catmull-Clark, applied; vertex groups are interpolated."""
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


def main(zip_path, name, levels, result):
    compare.install_extension(zip_path)
    armature, meshes = load(name)
    if int(levels):
        subdivide(meshes, int(levels))
    character = compare.Character(armature, meshes)
    outcomes = {}
    present = character.present_rows(meshes)
    if present.weights.any():
        outcomes["file"] = character.judge(compare.Outcome("file", 0.0, present))
    blender, copies = compare.blender_weights(character)
    compare.remove(copies)
    ours, copies = compare.our_weights(character)
    compare.remove(copies)
    outcomes.update(blender=blender, ours=ours)
    solved = compare.solve_again(character)
    stages = solved["seconds"]
    iterating = stages["local"] + stages["solve"]
    row = {
        "character": Path(name).stem,
        "levels": int(levels),
        "vertices": len(character.vertices),
        "bones": int(character.skeleton.deform.sum()),
        "iterations": solved["iterations"],
        "initial_seconds": sum(stages.values()) - iterating,
        "iteration_seconds": iterating / max(solved["iterations"], 1),
        "stages": stages,
        "blender_version": bpy.app.version_string,
        **{key: outcome.as_dict() for key, outcome in outcomes.items()},
    }
    Path(result).write_text(json.dumps(row))


if __name__ == "__main__":
    main(*sys.argv[sys.argv.index("--") + 1 :])
