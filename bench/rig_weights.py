"""Reads a production rig as its maker left it: the file's weights, Blender's heat weights and the
operator's weights, and poses from the rig's own actions.

rig_weights.py ZIP RIG.{blend,glb,gltf,vrm,fbx} RESULT.npz      in a headless Blender

Files other than .blend are read by Blender's importer with its default settings, as for a new user,
so bones point in the directions that the importer gives them. The imported file is stored as
RESULT.blend, and everything that does not depend on the extension as RESULT.file.npz (theirs()).
The rig is the armature of the file that deforms the most vertices. Nothing is prepared by hand:
collections and objects are made visible, and for each method the file is opened again and the
groups of the rig's bones are removed. RESULT.npz contains the arrays of a character of
../shared/data in the space of the armature, where `W` are the file's own weights, and `heat`,
`ours`, the seconds of both, and the `heat_error` or `error` with which a method ended. Exit code 3:
no mesh has an Armature modifier."""

import shutil
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "demo"))

import bpy
import compare
import numpy as np

MOST_ACTIONS, FRAMES = 12, 8  # frames of an action
LEAST_BONES = 3  # of the armature that an action moves
MOVED = 0.02  # entries of all transforms; a pose that moves less is left out
NO_RIG = 3  # exit code
GLTF, FBX = (".glb", ".gltf", ".vrm"), (".fbx",)


def as_blend(path, result):
    """A .blend file unchanged, or the import of another file, saved next to the result."""
    path, result = Path(path), Path(result)
    kind, blend = path.suffix.lower(), result.with_suffix(".blend")
    if kind == ".blend":
        return path
    if is_newer(blend, path):  # left by an earlier run
        return blend
    bpy.ops.wm.read_homefile(use_empty=True)
    if kind in GLTF:
        bpy.ops.preferences.addon_enable(module="io_scene_gltf2")
        if kind == ".vrm":  # a .glb by another name, which the importer refuses
            path = shutil.copy(path, result.with_suffix(".glb"))
        bpy.ops.import_scene.gltf(filepath=str(path))
    elif kind in FBX:
        bpy.ops.preferences.addon_enable(module="io_scene_fbx")
        bpy.ops.import_scene.fbx(filepath=str(path))
    else:
        raise ValueError(f"{path.name} is neither a .blend nor one of {', '.join(GLTF + FBX)}")
    bpy.ops.wm.save_as_mainfile(filepath=str(blend), check_existing=False)
    return blend


def is_newer(made, source):
    return made.exists() and made.stat().st_mtime > Path(source).stat().st_mtime


def open_file(path):
    """Opens the file with everything visible, in Object mode."""
    bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=False)
    layer = bpy.context.view_layer
    show(layer.layer_collection)
    for ob in layer.objects:
        ob.hide_viewport = ob.hide_select = False
        ob.hide_set(False)
        if ob.mode != "OBJECT":
            layer.objects.active = ob
            bpy.ops.object.mode_set(mode="OBJECT")
    layer.update()  # hidden objects have no place before


def show(collection):
    collection.exclude = collection.hide_viewport = False
    collection.collection.hide_viewport = False
    for child in collection.children:
        show(child)


def largest_rig():
    """(armature, meshes) of the rig with the most vertices, or None."""
    objects = bpy.context.view_layer.objects
    found = {
        armature: [ob for ob in objects if ob.type == "MESH" and modifiers_of(ob, armature)]
        for armature in objects
        if armature.type == "ARMATURE"
    }
    if not any(found.values()):
        return None
    return max(found.items(), key=lambda item: sum(len(ob.data.vertices) for ob in item[1]))


def modifiers_of(ob, armature):
    return [m for m in ob.modifiers if m.type == "ARMATURE" and m.object == armature]


def surface(armature, meshes):
    """(n, 3) points in the space of the armature, (f, 3) triangles."""
    points, triangles, first = [], [], 0
    for ob in meshes:
        ob.data.calc_loop_triangles()
        own = np.empty(3 * len(ob.data.vertices), np.float32)
        corners = np.empty(3 * len(ob.data.loop_triangles), np.int32)
        ob.data.vertices.foreach_get("co", own)
        ob.data.loop_triangles.foreach_get("vertices", corners)
        to = np.array(armature.matrix_world.inverted() @ ob.matrix_world)
        points.append(own.reshape(-1, 3) @ to[:3, :3].T + to[:3, 3])
        triangles.append(corners.reshape(-1, 3) + first)
        first += len(ob.data.vertices)
    return np.concatenate(points), np.concatenate(triangles)


def group_weights(meshes, names):
    """(n, bones)"""
    column, rows = {name: i for i, name in enumerate(names)}, []
    for ob in meshes:
        of_group = {g.index: column[g.name] for g in ob.vertex_groups if g.name in column}
        for vertex in ob.data.vertices:
            row = np.zeros(len(names), np.float32)
            for element in vertex.groups:
                if element.group in of_group:
                    row[of_group[element.group]] = element.weight
            rows.append(row)
    return np.array(rows)


def moves(action, names):
    """Whether an action moves bones with these names; Blender 5 only has slots."""
    paths = {curve.data_path for curve in getattr(action, "fcurves", ())}
    for layer in getattr(action, "layers", ()):
        for strip in layer.strips:
            for bag in getattr(strip, "channelbags", ()):
                paths |= {curve.data_path for curve in bag.fcurves}
    return len({path.split('"')[1] for path in paths if '"' in path} & names) >= LEAST_BONES


def play(armature, action):
    data = armature.animation_data or armature.animation_data_create()
    data.action = action
    if len(getattr(action, "slots", ())):
        data.action_slot = action.slots[0]


def own_poses(armature, names):
    """(poses, bones, 4, 4) from rest, in frames of the file's actions that move the rig."""
    rest = [np.linalg.inv(np.array(armature.data.bones[name].matrix_local)) for name in names]
    poses = []
    chosen = [action for action in bpy.data.actions if moves(action, set(names))]
    for action in chosen[:MOST_ACTIONS]:
        try:
            play(armature, action)
        except (AttributeError, RuntimeError):  # what plays is another file's, or locked
            continue
        for frame in np.linspace(*action.frame_range, FRAMES):
            bpy.context.scene.frame_set(round(frame))
            posed = [np.array(armature.pose.bones[name].matrix) for name in names]
            poses.append([at @ back for at, back in zip(posed, rest, strict=True)])
    poses = np.array(poses) if poses else np.zeros((0, len(names), 4, 4))
    return poses[np.abs(poses - np.eye(4)).max((1, 2, 3), initial=0) > MOVED]


def prepared(path, names, rig):
    """(armature, meshes) of the reopened file, without weights and selected."""
    open_file(path)
    armature, *meshes = (bpy.data.objects[name] for name in rig)
    for ob in meshes:
        for group in [g for g in ob.vertex_groups if g.name in names]:
            ob.vertex_groups.remove(group)
    compare.select(armature, meshes)
    return armature, meshes


def timed(work):
    """(seconds, the message with which it ended or None)"""
    start, error = time.perf_counter(), None
    try:
        work()
    except RuntimeError as reason:
        error = str(reason)
    return time.perf_counter() - start, error


def heat_weights(path, names, rig):
    armature, meshes = prepared(path, names, rig)
    for ob in meshes:
        for modifier in modifiers_of(ob, armature):
            ob.modifiers.remove(modifier)
        place = ob.matrix_world.copy()
        ob.parent, ob.matrix_world = None, place
    armature.data.pose_position = "REST"
    seconds, error = timed(lambda: bpy.ops.object.parent_set(type="ARMATURE_AUTO"))
    return {
        "heat": group_weights(meshes, names), "heat_seconds": seconds, "heat_error": error or "",
    }  # fmt: skip


def our_weights(path, names, rig):
    _armature, meshes = prepared(path, names, rig)
    seconds, error = timed(lambda: bpy.ops.object.araplbs_auto_weight("EXEC_DEFAULT"))
    return {"ours": group_weights(meshes, names), "seconds": seconds, "error": error or ""}


def theirs(path, result):
    """Arrays of the file itself and of bone heat, and names of its rig; None without a rig. They do
    not depend on the extension, and are stored as RESULT.file.npz until the file changes."""
    kept = Path(result).with_suffix(".file.npz")
    if is_newer(kept, path):
        with np.load(kept) as file:
            return dict(file)
    open_file(path)
    found = largest_rig()
    if not found:
        return None
    armature, meshes = found
    bones, rig = armature.data.bones, (armature.name, *(ob.name for ob in meshes))
    names = [bone.name for bone in bones]
    points, triangles = surface(armature, meshes)
    arrays = {
        "V": points,
        "F": triangles,
        "W": group_weights(meshes, names),
        "bone_names": np.array(names),
        "bone_head": np.array([bone.head_local for bone in bones]),
        "bone_tail": np.array([bone.tail_local for bone in bones]),
        "bone_parent": np.array([names.index(b.parent.name) if b.parent else -1 for b in bones]),
        "bone_deform": np.array([bone.use_deform for bone in bones]),
        "to_world": np.array(armature.matrix_world.to_3x3().normalized()),
        "anim": own_poses(armature, names),
        "rig": np.array(rig),
    }
    arrays |= heat_weights(path, names, rig)
    np.savez_compressed(kept, **arrays)
    return arrays


def main(zip_path, path, result):
    path = as_blend(path, result)
    arrays = theirs(path, result)
    if arrays is None:
        return NO_RIG
    compare.install_extension(zip_path)
    names, rig = (list(map(str, arrays[key])) for key in ("bone_names", "rig"))
    np.savez_compressed(result, **arrays, **our_weights(path, names, rig))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[sys.argv.index("--") + 1 :]))
