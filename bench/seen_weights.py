"""Computes the weights of a character by Blender's own methods and by the operator, for the rows of
its model:

seen_weights.py ZIP CHARACTER MODEL.npz RESULT.npz WAY...      in a headless Blender

CHARACTER: a .blend file, or "model" to create the scene from the model. WAY: "heat" and "envelope"
(Blender's), "default", "before" (version 0.1.0), or the file name of one of the extension's
presets. RESULT.npz contains the weights of each method, (vertices, bones of the model), the seconds
of each, "seconds.heat" and so on, and the "version" of Blender."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "demo"))

import bpy
import compare
import numpy as np

# The default options of version 0.1.0.
BEFORE = {
    "edge_power": 0.0,
    "bone_spring_stiffness": 0.0,
    "min_gain": 3e-5,
    "control_bones": "INCLUDE",
}
BLENDER = {"heat": "ARMATURE_AUTO", "envelope": "ARMATURE_ENVELOPE"}
MOST_OFF = 1e-5  # of a vertex from its row's, in sizes of the character


class Character(compare.Character):
    """Objects to be weighted, evaluated by other code."""

    def __init__(self, armature, meshes):
        self.armature, self.meshes = armature, meshes
        self.skeleton = compare.part("blender.read.read_armature").read_armature(armature, False)

    def judge(self, outcome):
        return outcome


def preset_options(name):
    """The options of the operator that a preset sets."""
    folder = Path(compare.part("cli").__file__).parent / "presets/operator"
    text = (folder / f"object.araplbs_auto_weight/{name}.py").read_text(encoding="utf-8")
    return compare.package("disk.presets").preset_values(text)


def scene_of(model):
    """(armature, [mesh]) created from a model, in an empty file."""
    bpy.ops.wm.read_homefile(use_empty=True)
    link = bpy.context.scene.collection.objects.link
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bones = [rig.data.edit_bones.new(str(name)) for name in model["bone_names"]]
    ends = zip(model["bone_head"], model["bone_tail"], model["bone_parent"], strict=True)
    for bone, deforms, (head, tail, parent) in zip(bones, model["bone_deform"], ends, strict=True):
        bone.head, bone.tail, bone.use_deform = head, tail, bool(deforms)
        if parent >= 0:
            bone.parent = bones[parent]
    bpy.ops.object.mode_set(mode="OBJECT")
    mesh = bpy.data.meshes.new("Body")
    mesh.from_pydata(model["V"].tolist(), [], model["F"].tolist())
    ob = bpy.data.objects.new("Body", mesh)
    link(ob)
    bpy.context.view_layer.update()
    return rig, [ob]


def weigh(character, way):
    """(outcome, copies of the meshes) of one method."""
    if way in BLENDER:
        return compare.blender_weights(character, kind=BLENDER[way])
    options = {"default": {}, "before": BEFORE}
    return compare.our_weights(
        character, **options[way] if way in options else preset_options(way)
    )  # fmt: skip


def places(model, armature, meshes):
    """Rows of the model for the vertices of each mesh object, None for an object that is not in the
    model."""
    ids = model["part_id"] if "part_id" in model else np.zeros(len(model["V"]), int)
    names = [str(name) for name in model["part_names"]] if len(meshes) > 1 else [meshes[0].name]
    if len(meshes) == 1:
        ids = np.zeros(len(model["V"]), int)
    size = np.ptp(model["V"], axis=0).max()
    result = []
    for ob in meshes:
        rows = np.flatnonzero(ids == names.index(ob.name)) if ob.name in names else None
        result.append(rows)
        if rows is None:
            continue
        points = np.empty(3 * len(ob.data.vertices))
        ob.data.vertices.foreach_get("co", points)
        to_armature = np.array(armature.matrix_world.inverted() @ ob.matrix_world)
        points = points.reshape(-1, 3) @ to_armature[:3, :3].T + to_armature[:3, 3]
        if len(points) != len(rows) or np.abs(points - model["V"][rows]).max() > MOST_OFF * size:
            raise RuntimeError(f"'{ob.name}' is not the mesh of the model")
    return result


def model_weights(model, where, character, outcome):
    """(vertices, bones) of the model; 0 for data that only the model has."""
    bones = [list(map(str, model["bone_names"])).index(n) for n in character.skeleton.names]
    weights = np.zeros((len(model["V"]), len(model["bone_names"])))
    first, rows = 0, outcome.rows
    dense = np.zeros((rows.count, len(bones)))
    dense[rows.vertices, rows.bones] = rows.weights
    for ob, to in zip(character.meshes, where, strict=True):
        count = len(ob.data.vertices)
        if to is not None:
            weights[np.ix_(to, bones)] = dense[first : first + count]
        first += count
    return weights


def main(zip_path, source, model_path, result, *ways):
    compare.install_extension(zip_path)
    with np.load(model_path, allow_pickle=True) as file:
        model = dict(file)
    found = scene_of(model) if source == "model" else compare.open_largest(source)
    character = Character(*found)
    where = places(model, character.armature, character.meshes)
    arrays = {"version": bpy.app.version_string}
    for way in ways:
        outcome, copies = weigh(character, way)
        compare.remove(copies)
        arrays[way] = model_weights(model, where, character, outcome)
        arrays[f"seconds.{way}"] = outcome.seconds
    np.savez_compressed(result, **arrays)


if __name__ == "__main__":
    main(*sys.argv[sys.argv.index("--") + 1 :])
