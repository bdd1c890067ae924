"""Tests the guarantees of every operator that runs a task. The operator adds one undo step, reports
progress, and can be stopped. If the meshes have changed since they were read, nothing is
written."""

import araplbs
import bpy
import pytest
from deep import deep_snapshot, difference, without_memory
from odd_table import with_unknown_constraints
from scenes import addon
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
