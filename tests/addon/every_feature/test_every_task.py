"""Tests the guarantees of every operator that runs a task. The operator adds one undo step, reports
progress, and can be stopped. If the meshes have changed since they were read, nothing is written.
Locked groups, groups of no bone, and vertices outside the paint mask stay."""

import araplbs
import bpy
import numpy as np
import pytest
from deep import deep_snapshot, difference, refused, without_memory
from odd_table import with_unknown_constraints
from scenes import addon, deform_names, entries, weights
from test_guard import TABLE, call, edited_pair, operators

# The operators of test_guard.py; in Edit mode undo is that of the mode: test_new_vertices.py.
TASKS = [name for name in TABLE if name not in ("select_worst", "mark_rigid", "keep_weights")]
IN_OBJECT_MODE = [name for name in TASKS if TABLE[name][0] != edited_pair]


def scene_of(operator):
    """Creates the scene and returns the options."""
    scene, options, _faults = TABLE[operator]
    scene()
    bpy.context.view_layer.update()
    return options


@pytest.mark.parametrize("operator", IN_OBJECT_MODE)
def test_one_step_of_undo(operator):
    options = scene_of(operator)
    for _ in range(2):  # the first undo leaves what is not saved in a step with its default
        bpy.ops.ed.undo_push(message="before")
    bpy.ops.ed.undo()
    states = [without_memory(deep_snapshot())]
    assert call(operator, options) == {"FINISHED"}
    bpy.ops.ed.undo_push(message="after")
    states.append(without_memory(deep_snapshot()))
    assert difference(*states)
    for step, state in ((bpy.ops.ed.undo, 0), (bpy.ops.ed.redo, 1)):
        step()
        assert difference(states[state], without_memory(deep_snapshot())) == {}


@pytest.mark.parametrize("operator", IN_OBJECT_MODE)
def test_constraints_of_another_version(operator, tmp_path):
    """Constraints of a type that Blender does not know do not matter to any operator."""
    options = scene_of(operator)
    bones = [bone for ob in bpy.data.objects if ob.pose for bone in ob.pose.bones]
    with_unknown_constraints(tmp_path / "old.blend", *bones, *bpy.data.objects)
    assert call(operator, options) == {"FINISHED"}


@pytest.mark.outside
@pytest.mark.parametrize("operator", [name for name in TASKS if name != "bake"])
def test_progress_and_stopping(operator, monkeypatch):
    """If a task is stopped at the start or half-way, nothing changes, and the same task can then
    run to its end. Only the frames of Bake Modifiers to Weights can be read once."""
    options, idname = scene_of(operator), f"object.araplbs_{operator.partition(' ')[0]}"
    kind = next(cls for cls in operators() if getattr(cls, "bl_idname", "") == idname)
    cancelled = araplbs.Cancelled
    start, fractions, before = kind.start, [], deep_snapshot()

    def begin(self, context):
        start(self, context)
        solve = self._task.solve

        def solve_at_last(_progress):
            for end in (0.0, 0.5):
                with pytest.raises(cancelled):
                    solve(lambda _stage, fraction, _energy, end=end: fraction < end)
            assert difference(before, deep_snapshot()) == {}
            solve(lambda _stage, fraction, _energy: fractions.append(fraction))

        self._task.solve = solve_at_last

    monkeypatch.setattr(kind, "start", begin)
    assert call(operator, options) == {"FINISHED"}
    assert fractions == sorted(fractions) and 0 <= fractions[0] < fractions[-1] <= 1
    assert bpy.context.mode != "OBJECT" or difference(before, deep_snapshot())


def add_vertex(ob):
    ob.data.vertices.add(1)


def delete(ob):
    bpy.data.objects.remove(ob)


def to_edit_mode(ob):
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")


CHANGES = {
    add_vertex: "has changed since it was read",
    delete: "was deleted",
    to_edit_mode: "is in Edit mode: nothing was",
}


@pytest.mark.outside
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("operator", [*IN_OBJECT_MODE, "keep_weights"])
def test_changed_meanwhile(operator, change, monkeypatch):
    """Changed between reading and writing: the message names the object, and the other meshes also
    stay unchanged."""
    options, kind = scene_of(operator), addon("operators.work").TaskOperator
    finish, states = kind.finish, []
    name = "Inner" if "Inner" in bpy.data.objects else "Tube"  # these get weights or shapes

    def change_and_finish(self, task):
        change(bpy.data.objects[name])
        bpy.context.view_layer.update()
        states.append(deep_snapshot())
        return finish(self, task)

    monkeypatch.setattr(kind, "finish", change_and_finish)
    with pytest.raises(RuntimeError, match=f"'{name}' {CHANGES[change]}"):
        call(operator, options)
    assert difference(states[0], deep_snapshot()) == {}


WRITING = (
    *("auto_weight", "refine_weights", "joints", "new_vertices", "new_vertices in Edit mode"),
    *("transfer", "restore_weights", "repair", "bake"),
)
WHOLE = ("quantize", "reduce_bones")  # need all groups of the bones
BONES = ["lower", "middle", "upper"]


def with_locks(operator, locked):
    """Creates the scene, with these groups locked, and with a group of no bone. Returns (options,
    meshes)."""
    options, mode = scene_of(operator), bpy.context.mode
    bpy.ops.object.mode_set(mode="OBJECT")
    meshes = [ob for ob in bpy.context.selected_objects if ob.type == "MESH"]
    for ob in meshes:
        for name in (*locked, "Cloth"):
            group = ob.vertex_groups.get(name) or ob.vertex_groups.new(name=name)
            if not any(group.index in [g.group for g in v.groups] for v in ob.data.vertices):
                group.add(range(len(ob.data.vertices)), 0.25, "REPLACE")
            group.lock_weight = name in locked
    bpy.ops.object.mode_set(mode="EDIT" if mode == "EDIT_MESH" else "OBJECT")
    return options, meshes


@pytest.mark.parametrize("operator", WRITING)
def test_locked_groups_and_those_of_no_bone_stay(operator):
    """The other bones get what the locked ones leave."""
    options, meshes = with_locks(operator, ["middle"])
    bones = [weights(ob, BONES) for ob in meshes]
    kept = [weights(ob, ["middle", "Cloth"]) for ob in meshes]
    assert call(operator, options) == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    changed = 0
    for ob, before, own in zip(meshes, bones, kept, strict=True):
        assert (weights(ob, ["middle", "Cloth"]) == own).all()
        assert ob.vertex_groups["middle"].lock_weight
        rows = (weights(ob, BONES) != before).any(1)
        changed += rows.sum()
        sums = weights(ob, deform_names(bpy.data.objects["Rig"])).sum(1)  # with new bones
        assert np.abs(sums[rows] - 1).max(initial=0) < 1e-6
    assert changed


@pytest.mark.parametrize(
    "operator", [name for name in WRITING + WHOLE if name != "restore_weights"]
)
def test_locked_groups_are_a_reason_to_refuse(operator):
    """Restore Weights restores the other groups."""
    options, _meshes = with_locks(operator, ["middle"] if operator in WHOLE else BONES)
    said = refused(operator.partition(" ")[0], **options)
    whole = "'Tube' has locked vertex groups" if operator in WHOLE else ""
    assert (whole or ": the vertex groups of all deform bones are locked") in said


@pytest.mark.parametrize(
    "operator", ["auto_weight", "refine_weights", "new_vertices", "repair", "bake"]
)
def test_paint_mask(operator):
    options, tube = scene_of(operator), bpy.data.objects["Tube"]
    bpy.context.view_layer.objects.active = tube
    tube.data.use_paint_mask_vertex = True
    chosen = np.arange(len(tube.data.vertices)) % 2 == 0
    addon("blender.write.select_region").select_vertices(tube.data, np.flatnonzero(chosen))
    bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
    before = entries(tube)
    assert call(operator, options) == {"FINISHED"}
    changed = np.array([a != b for a, b in zip(before, entries(tube), strict=True)])
    assert changed.any() and not changed[~chosen].any()
