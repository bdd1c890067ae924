"""The demo: weights a character, reports, and leaves a .blend, a JSON report and a picture.

Run by tools/demo.sh in a headless Blender: demo.py ZIP OUTPUT_FOLDER [FILE.blend]"""

import json
import math
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import bpy
import character as generated
import compare
import numpy as np
from picture import Stage, posed_copy


def find_characters(file):
    """[(armature, meshes)] of the file, or the generated one."""
    if not file:
        bpy.ops.wm.read_homefile(use_empty=True)  # the start-up file, not the preferences
        return [generated.make_character()]
    bpy.ops.wm.open_mainfile(filepath=file)
    targets = compare.part("blender.targets").find_in_file(bpy.context.view_layer)
    return [(each.armature, each.meshes) for each in targets]


def pose_at_random(armature, seed=3):
    """Bends the deform bones of a rig without constraints by moderate angles."""
    numbers = random.Random(seed)
    for bone in armature.pose.bones:
        if not bone.bone.use_deform:
            continue
        bone.rotation_mode = "XYZ"
        for axis, most in ((0, 32), (1, 8), (2, 22)):
            if not bone.lock_rotation[axis]:
                bone.rotation_euler[axis] = math.radians(most * numbers.uniform(-1, 1))


def posed_rig(armature, own):
    """A copy of the armature that poses freely, and the pose of the picture in it."""
    copy = armature.copy()
    copy.animation_data_clear()
    armature.users_collection[0].objects.link(copy)
    for bone in copy.pose.bones:
        for constraint in list(bone.constraints):
            bone.constraints.remove(constraint)
        bone.matrix_basis.identity()
    if own:
        generated.apply_pose(copy)
    else:
        pose_at_random(copy)
    bpy.context.view_layer.update()
    return copy


def pose_matrices(armature, names):
    """(1, m, 4, 4) rest to posed, armature space."""
    bones = armature.pose.bones
    return np.array([[bones[n].matrix @ bones[n].bone.matrix_local.inverted() for n in names]])


def draw(character, figures, own, path):
    """figures: [(title, outcome, mesh copies)]."""
    rig = posed_rig(character.armature, own)
    pose = pose_matrices(rig, character.skeleton.names)
    bounds = character.vertices
    stage = Stage(float(np.linalg.norm(bounds.max(0) - bounds.min(0))) * 0.75)
    for title, outcome, meshes in figures:
        _, error = character.energy(outcome.rows, pose, per_vertex=True)
        error = np.sqrt(error)
        error[outcome.rows.sums() <= 0] = np.nan
        copies, first = [], 0
        for ob in meshes:
            for modifier in ob.modifiers:
                if modifier.type == "ARMATURE":
                    modifier.object = rig
            bpy.context.view_layer.update()
            count = len(ob.data.vertices)
            copies.append(posed_copy(stage.scene, ob, error[first : first + count]))
            first += count
            for modifier in ob.modifiers:
                if modifier.type == "ARMATURE":
                    modifier.object = character.armature
        stage.add(copies, [title, *caption(outcome)])
    stage.render(path)
    for item in list(stage.scene.collection.objects):
        bpy.data.objects.remove(item)
    bpy.data.scenes.remove(stage.scene)
    bpy.data.objects.remove(rig)


def caption(outcome):
    if outcome.energy is None:
        return [f"failed: {outcome.unweighted:,} vertices without weights"]
    lines = [f"mean stretch in 100 random poses {100 * math.sqrt(outcome.energy):.1f} %"]
    if outcome.unweighted:
        lines.append(f"{outcome.unweighted:,} vertices without weights")
    return lines


def weigh(armature, meshes, own, picture):
    """Weights one character in place; returns its entry of the report."""
    character = compare.Character(armature, meshes)
    bpy.context.view_layer.update()
    before, before_copies = compare.blender_weights(character)
    after, after_copies = compare.our_weights(character)
    solved = compare.solve_again(character)
    draw(character, [("Blender: Automatic Weights", before, before_copies),
                     ("Auto-weight (ARAP)", after, after_copies)], own, picture)  # fmt: skip
    compare.remove(before_copies + after_copies)
    compare.select(armature, meshes)
    bpy.ops.object.araplbs_auto_weight("EXEC_DEFAULT")
    return {
        "armature": armature.name,
        "meshes": [ob.name for ob in meshes],
        "vertices": len(character.vertices),
        "deforming_bones": int(character.skeleton.deform.sum()),
        "seconds": after.seconds,
        "iterations": int(solved["iterations"]),
        "energy_before": before.energy,
        "energy_after": after.energy,
        "vertices_without_weights": after.unweighted,
        "most_influences": after.most_influences,
        "blender": before.as_dict(),
        "ours": after.as_dict(),
    }


def main(zip_path, folder, file=None):
    folder = Path(folder)
    compare.install_extension(zip_path)
    results = []
    for index, (armature, meshes) in enumerate(find_characters(file)):
        name = "before_after.png" if not index else f"before_after_{index + 1}.png"
        results.append(weigh(armature, meshes, not file, folder / name))
    if not file:
        generated.apply_pose(results and bpy.data.objects[results[0]["armature"]])
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "weighted.blend"), check_existing=False)
    report = {"file": file, "blender": bpy.app.version_string, "characters": results}
    (folder / "report.json").write_text(json.dumps(report, indent=2) + "\n")
    for result in results:
        print(line(result))
    return 0 if all(result["vertices_without_weights"] == 0 for result in results) else 1


def line(result):
    before = result["energy_before"]
    was = "Blender's automatic weights failed" if before is None else (
        f"Blender's automatic weights {100 * math.sqrt(before):.1f} % in "
        f"{result['blender']['seconds']:.2f} s")  # fmt: skip
    return (
        f"{result['armature']}: {result['vertices']:,} vertices, "
        f"{result['deforming_bones']} bones: mean stretch on unseen poses "
        f"{100 * math.sqrt(result['energy_after']):.1f} % in "
        f"{result['seconds']:.2f} s ({result['iterations']} iterations, at most "
        f"{result['most_influences']} influences, {result['vertices_without_weights']} vertices "
        f"without weights); {was}"
    )


if __name__ == "__main__":
    sys.exit(main(*sys.argv[sys.argv.index("--") + 1 :]))
