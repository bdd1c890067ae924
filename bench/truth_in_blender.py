"""Records the sentences of the Result box about a character, and the character's weights.

truth_in_blender.py ZIP CHARACTER.{blend,glb,gltf,vrm,fbx} RESULT.npz      in a headless Blender

Auto-weight is pressed twice, each time after the file is opened again: on the weights of the file,
and on the same meshes without weights. RESULT.npz contains the arrays of the file that
rig_weights.py has written, `ours`, and `said`: JSON of the lines of the Result box after each press
({"over_file" or "afresh": ...}). Exit code 3: no mesh has an Armature modifier."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import bpy
import rig_weights as rig_of
from rig_weights import compare, np


def main(zip_path, path, result):
    path = rig_of.as_blend(path, result)
    arrays = rig_of.theirs(path, result)
    if arrays is None:
        return rig_of.NO_RIG
    compare.install_extension(zip_path)
    compare.part("features.auto_weight.operator").is_seen = lambda: True
    names, rig = (list(map(str, arrays[key])) for key in ("bone_names", "rig"))
    said, found = {}, {"ours": np.zeros_like(arrays["W"])}
    for press in ("over_file", "afresh"):
        _armature, meshes = on_file(path, rig)
        if press == "afresh":
            _armature, meshes = rig_of.prepared(path, names, rig)
        work = lambda: bpy.ops.object.araplbs_auto_weight("EXEC_DEFAULT")  # noqa: E731
        seconds, error = rig_of.timed(work)
        said[press] = {"error": error} if error else told()
        if press == "over_file":
            ours = rig_of.group_weights(meshes, names)
            sizes = np.array([len(ob.data.vertices) for ob in meshes])
            found = {"ours": ours, "sizes": sizes, "seconds": seconds, "error": error or ""}
    np.savez_compressed(result, **arrays, **found, said=np.array(json.dumps(said)))
    return 0


def on_file(path, rig):
    """(armature, meshes) of the reopened file, selected, with its own weights."""
    rig_of.open_file(path)
    armature, *meshes = (bpy.data.objects[name] for name in rig)
    compare.select(armature, meshes)
    return armature, meshes


def told():
    """The contents of the Result box, as plain data."""
    outcome = compare.part("features.auto_weight.outcome").latest_outcome()
    report = compare.part("window.last_report").report_of(bpy.context.scene)
    notes = [
        {
            "text": str(note.text), "urgent": note.urgent, "bones": list(note.bones),
            "places": list(note.places), "above": note.above, "remedy": note.remedy,
        }
        for note in outcome.notes
    ]  # fmt: skip
    return {
        "facts": outcome.facts,
        "worse": bool(outcome.verdict),
        "notes": notes,
        "left_out": report["control_bones"],
        "rigid": report["rigid"],
        "parts": report["unseen_parts"],
        "through_rig": bool(report["posed_by"]),
        "findings": [[each.kind, float(each.severity), int(each.bone), int(each.mesh)]
                     for each in outcome.findings or ()],
    }  # fmt: skip


if __name__ == "__main__":
    sys.exit(main(*sys.argv[sys.argv.index("--") + 1 :]))
