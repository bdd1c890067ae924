"""Two identical runs give identical bits, and undo and redo restore each state of all data. These
tests run in a window."""

import bpy
import odd_scenes
import scenes
from deep import deep_snapshot, difference, without_memory
from driver import clear, newest_only, wait_for_end

# Without a window more of them: tests/addon/every_feature/test_undo.py.
ROWS = ("unbound_child_of_a_posed_bone", "posed_by_hand_over_an_action", "shape_keys")


def step(ui, call):
    with ui.override():
        call()
    yield 3


def run(ui):
    with ui.override():
        assert bpy.ops.object.araplbs_auto_weight("INVOKE_DEFAULT") == {"RUNNING_MODAL"}
    yield from wait_for_end()


def expect(state, found, when):
    changes = difference(state, found)
    assert not changes, (when, len(changes), dict(list(changes.items())[:5]))


def of_row(name):
    def test(ui):
        newest_only()
        clear()
        scene = odd_scenes.make(name, None)
        tube = scene.tube.name
        bpy.ops.ed.undo_push(message="set-up")
        # As the first undo leaves it: data that is not saved in a step has its default then.
        yield from step(ui, lambda: bpy.ops.ed.undo_push(message="the same"))
        yield from step(ui, bpy.ops.ed.undo)
        states = [without_memory(deep_snapshot())]
        for _ in range(2):
            yield from run(ui)
            states.append(without_memory(deep_snapshot()))
        entries = scenes.entries(bpy.data.objects[tube])
        assert any(entries), "no weights"
        expect(states[1], states[2], "the second time")
        for call, state in (
            (bpy.ops.ed.undo, 1),
            (bpy.ops.ed.undo, 0),
            (bpy.ops.ed.redo, 1),
            (bpy.ops.ed.undo, 0),
        ):
            yield from step(ui, call)
            expect(states[state], without_memory(deep_snapshot()), f"{call}")
        yield from run(ui)
        assert scenes.entries(bpy.data.objects[tube]) == entries

    return test


for row in ROWS:
    globals()[f"test_undo_{row}"] = of_row(row)
