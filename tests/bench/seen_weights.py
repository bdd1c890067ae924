"""Weights of a character by Blender's bone heat and by the operator, for the rows of its model:

seen_weights.py ZIP CHARACTER.blend MODEL.npz RESULT.npz [PRESET...]      in a headless Blender

RESULT.npz holds "heat", "default", "before" (version 0.1.0) and the presets, (vertices, bones of
the model), and the seconds that each took, "seconds.heat" and so on. PRESET: a file
name of the extension's presets."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "demo"))

import compare
import numpy as np

# What version 0.1.0 did by default.
BEFORE = {"edge_power": 0.0, "truss": 0.0, "least_worth": 3e-5, "control_bones": "INCLUDE"}
MOST_OFF = 1e-5  # of a vertex from its row's, in sizes of the character


class Character(compare.Character):
    """Objects to be weighted, judged by others."""

    def __init__(self, armature, meshes):
        self.armature, self.meshes = armature, meshes
        self.skeleton = compare.part("blender.read_armature").read_armature(armature, False)

    def judge(self, outcome):
        return outcome


def preset_options(name):
    """Options of the operator that a preset sets."""
    folder = Path(compare.part("core").__file__).parents[1] / "presets/operator"
    text = (folder / f"object.araplbs_auto_weight/{name}.py").read_text(encoding="utf-8")
    return compare.part("operators.load_preset").preset_values(text)


def places(model, armature, meshes):
    """Rows of the model for the vertices of each mesh object, None for one that it leaves out."""
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
    """(vertices, bones) of the model; 0 for what it has and the file has not."""
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


def main(zip_path, blend, model_path, result, *presets):
    compare.install_extension(zip_path)
    with np.load(model_path, allow_pickle=True) as file:
        model = dict(file)
    character = Character(*compare.open_largest(blend))
    where = places(model, character.armature, character.meshes)
    ways = {
        "heat": lambda: compare.blender_weights(character),
        "default": lambda: compare.our_weights(character),
        "before": lambda: compare.our_weights(character, **BEFORE),
        **{p: lambda p=p: compare.our_weights(character, **preset_options(p)) for p in presets},
    }
    arrays = {}
    for name, weigh in ways.items():
        outcome, copies = weigh()
        compare.remove(copies)
        arrays[name] = model_weights(model, where, character, outcome)
        arrays[f"seconds.{name}"] = outcome.seconds
    np.savez_compressed(result, **arrays)


if __name__ == "__main__":
    main(*sys.argv[sys.argv.index("--") + 1 :])
