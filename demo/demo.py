"""The demo: weights a character, reports the result, and writes a .blend file, a JSON report and a
picture.

tools/demo.sh runs it in a headless Blender: demo.py ZIP OUTPUT_FOLDER [FILE.blend]"""

import json
import math
import random
import sys
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import armor
import bpy
import character as generated
import compare
import numpy as np
from mathutils import Vector
from picture import Stage, posed_copy


def find_characters(file):
    """Return [(armature, meshes)] from the file, or else the generated character."""
    if not file:
        bpy.ops.wm.read_homefile(use_empty=True)  # the start-up file, not the preferences
        return [make_warrior()]
    bpy.ops.wm.open_mainfile(filepath=file)
    targets = compare.part("blender.read.targets").find_in_file(bpy.context.view_layer)
    return [(each.armature, each.meshes) for each in targets]


def make_warrior():
    """Create (rig, [meshes]): the generated character in armor. As in most game characters, loose
    parts should keep their shape over skin that should bend."""
    rig, meshes = generated.make_character()
    body = meshes[0]
    for part in [ob for ob in meshes if ob.name.startswith(("Button", "Pouch"))]:
        meshes.remove(part)
        bpy.data.objects.remove(part)
    return rig, [*meshes, armor.make_armor(rig.users_collection[0], body)]


def apply_pose(rig):
    for bone in rig.pose.bones:
        bone.rotation_mode = "XYZ"
        bone.rotation_euler = [math.radians(a) for a in armor.POSE.get(bone.name, (0, 0, 0))]
    bpy.context.view_layer.update()


def pose_at_random(armature, seed=3):
    """Bend the deform bones of a rig without constraints by moderate angles."""
    numbers = random.Random(seed)
    for bone in armature.pose.bones:
        if not bone.bone.use_deform:
            continue
        bone.rotation_mode = "XYZ"
        for axis, most in ((0, 32), (1, 8), (2, 22)):
            if not bone.lock_rotation[axis]:
                bone.rotation_euler[axis] = math.radians(most * numbers.uniform(-1, 1))


def posed_rig(armature, own):
    """Return a copy of the armature that can be posed freely, and its pose in the picture."""
    copy = armature.copy()
    copy.animation_data_clear()
    armature.users_collection[0].objects.link(copy)
    for bone in copy.pose.bones:
        for constraint in list(bone.constraints):
            bone.constraints.remove(constraint)
        bone.matrix_basis.identity()
    if own:
        apply_pose(copy)
    else:
        pose_at_random(copy)
    bpy.context.view_layer.update()
    return copy


def pose_matrices(armature, names):
    """Return (1, m, 4, 4) transforms from rest to the pose, in armature space."""
    bones = armature.pose.bones
    return np.array([[bones[n].matrix @ bones[n].bone.matrix_local.inverted() for n in names]])


def draw(character, figures, own, path):
    """Draw figures: [(title, outcome, mesh copies)]."""
    rig = posed_rig(character.armature, own)
    pose = pose_matrices(rig, character.skeleton.names)
    wide, _deep, tall = posed_size(figures[-1][2], character.armature, rig)
    stage = Stage(tall, max(1.12 * wide / tall, 0.66))
    for title, outcome, meshes in figures:
        strain = character.measures(outcome.rows, pose, per_vertex=True)["vertex_strain"]
        strain[outcome.rows.sums() <= 0] = np.nan
        copies, first = [], 0
        with posed_by(rig, meshes, character.armature):
            for ob in meshes:
                count = len(ob.data.vertices)
                copies.append(posed_copy(stage.scene, ob, strain[first : first + count]))
                first += count
        stage.add(copies, [title, *caption(character, outcome, meshes)])
    stage.render(path, "Stretch in this pose; numbers over 100 random poses")
    for item in list(stage.scene.collection.objects):
        bpy.data.objects.remove(item)
    bpy.data.scenes.remove(stage.scene)
    bpy.data.objects.remove(rig)


@contextmanager
def posed_by(rig, meshes, before):
    """Make the meshes follow this rig instead of their previous rig."""
    modifiers = [m for ob in meshes for m in ob.modifiers if m.type == "ARMATURE"]
    for modifier in modifiers:
        modifier.object = rig
    bpy.context.view_layer.update()
    try:
        yield
    finally:
        for modifier in modifiers:
            modifier.object = before


def posed_size(meshes, armature, rig):
    """Return the extent (3,) of the drawn objects."""
    with posed_by(rig, meshes, armature):
        depsgraph = bpy.context.evaluated_depsgraph_get()
        corners = [
            ob.matrix_world @ Vector(corner)
            for ob in (each.evaluated_get(depsgraph) for each in meshes)
            for corner in ob.bound_box
        ]
    return np.ptp(np.array(corners), axis=0)


def caption(character, outcome, meshes):
    if outcome.energy is None:
        return [f"failed: {outcome.unweighted:,} vertices without weights"]
    seen = outcome.deformation
    lines = [strain_in_words(seen)]
    if meshes[-1].name.startswith("Armor"):
        strain = character.measures(outcome.rows, character.poses, per_vertex=True)["vertex_strain"]
        alone = strain[-len(meshes[-1].data.vertices) :]
        lines.append(f"Stretch of the armor {100 * np.sqrt((alone**2).mean()):.1f} %")
    if rest := rest_in_words(seen):
        lines.append(rest)
    if outcome.unweighted:
        lines.append(f"{outcome.unweighted:,} vertices without weights")
    return lines


def strain_in_words(seen):
    strain, worst = seen["surface_strain"], seen["surface_strain_p99"]
    if strain is None:
        return "no surface"
    return f"Stretch in poses {100 * strain:.1f} % (worst spots {100 * worst:.0f} %)"


def rest_in_words(seen):
    """Return drift and volume in words, if there is something to measure."""
    words = []
    if seen["limb_drift"] is not None:
        words.append(f"Limb Drift {seen['limb_drift']:.2f}")
    if seen["volume_change"] is not None:
        words.append(f"Volume Change {100 * seen['volume_change']:+.1f} %")
    return ", ".join(words)


def weigh(armature, meshes, own, picture):
    """Weight one character in place and return its entry of the report."""
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
        "deformation": {"before": before.deformation, "after": after.deformation},
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
        apply_pose(results and bpy.data.objects[results[0]["armature"]])
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "weighted.blend"), check_existing=False)
    report = {"file": file, "blender": bpy.app.version_string, "characters": results}
    (folder / "report.json").write_text(json.dumps(report, indent=2) + "\n")
    for result in results:
        print(line(result))
    return 0 if all(result["vertices_without_weights"] == 0 for result in results) else 1


def line(result):
    def in_words(seen):
        return ", ".join(filter(None, (strain_in_words(seen), rest_in_words(seen))))

    before, after = result["deformation"]["before"], result["deformation"]["after"]
    was = "failed" if before is None else (
        f"{in_words(before)}, in {result['blender']['seconds']:.2f} s")  # fmt: skip
    return (
        f"{result['armature']}: {result['vertices']:,} vertices, "
        f"{result['deforming_bones']} bones, on unseen poses: {in_words(after)}, in "
        f"{result['seconds']:.2f} s ({result['iterations']} iterations, at most "
        f"{result['most_influences']} influences, {result['vertices_without_weights']} vertices "
        f"without weights); Blender's automatic weights: {was}"
    )


if __name__ == "__main__":
    sys.exit(main(*sys.argv[sys.argv.index("--") + 1 :]))
