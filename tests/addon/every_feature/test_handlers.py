"""Tests handlers of other add-ons that delete data or undo during the work. The operator ends with
a sentence and without a crash, and leaves none of its work in the file."""

import contextlib

import bpy
import pytest
from scenes import add_tube, auto_weight, bind, select, tube_and_rig

WORK = {
    "bake": {"poses": "RANDOM", "pose_count": 4},
    "bake of frames": {"poses": "SCENE", "new_bones": 2},
    "joints": {"pose_count": 8},
    "auto_weight": {"pose_count": 8},
    "restore_weights": {},
    "check": {},
}


def scene():
    tube, rig = tube_and_rig()
    other = add_tube("Other", shift=(0.1, 0, 0))
    bind(other, rig)
    auto_weight(tube, other, rig)
    for ob in (tube, other):
        ob.modifiers.new("Smooth", "CORRECTIVE_SMOOTH")
    bone = rig.pose.bones["upper"]
    for frame in (1, 5):
        bone.rotation_quaternion.x = frame / 10
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    bpy.context.scene.frame_end = 5
    select(tube, other, rig)
    bpy.ops.object.araplbs_keep_weights("EXEC_DEFAULT")
    for _ in range(3):
        bpy.ops.ed.undo_push(message="step")
    return tube, rig


def delete_mesh():
    """Deletes the first mesh that is found, possibly a working copy."""
    bpy.data.objects.remove(next(ob for ob in bpy.data.objects if ob.type == "MESH"))


def delete_armature():
    bpy.data.objects.remove(next(ob for ob in bpy.data.objects if ob.type == "ARMATURE"))


def undo():
    bpy.ops.ed.undo()


@contextlib.contextmanager
def handler(action, number):
    """Performs the action at the evaluation of a scene with this number, and returns the number of
    evaluations. Undo waits for an evaluation of the file's own scene, because Blender crashes if it
    removes the scene that is being evaluated."""
    calls = []

    def call(evaluated, *_arguments):
        if action is undo and evaluated != bpy.context.scene:
            return
        calls.append(1)
        if len(calls) == number:
            with contextlib.suppress(RuntimeError, StopIteration):
                action()

    bpy.app.handlers.depsgraph_update_post.append(call)
    try:
        yield calls
    finally:
        bpy.app.handlers.depsgraph_update_post.remove(call)


def everything():
    kinds = ("objects", "meshes", "armatures", "scenes", "collections")
    return {kind: sorted(each.name for each in getattr(bpy.data, kind)) for kind in kinds}


@pytest.mark.parametrize("action", [delete_mesh, delete_armature, undo])
@pytest.mark.parametrize("work", WORK)
def test_things_that_go_in_the_midst(work, action):
    operator = work.partition(" ")[0]
    for number in range(1, 6):
        scene()
        before = everything()
        said = ""
        with handler(action, number) as calls:
            try:
                call = getattr(bpy.ops.object, f"araplbs_{operator}")
                call("EXEC_DEFAULT", **WORK[work])
            except RuntimeError as error:
                said = str(error)
        assert "bug in the program" not in said, f"call {number}"
        for kind, names in everything().items():
            new = [n for n in names if n not in before[kind]]
            assert not new, f"call {number}: {kind}"
        rig = bpy.data.objects.get("Rig")
        if rig and said and operator == "joints" and action is not undo:
            tail = rig.data.bones["middle"].tail_local
            assert abs(tail.z - 2) < 1e-6 and abs(tail.x) < 1e-6, f"call {number}"
        if len(calls) < number:
            break
