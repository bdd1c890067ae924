"""Two identical runs give identical bits, and undo and redo restore each state. These tests run
without a window."""

import bpy
import pytest
from deep import deep_snapshot, difference, without_memory
from odd_scenes import make
from scenes import auto_weight, entries

ROWS = (
    *("posed", "nla", "posed_by_hand_over_an_action", "drivers", "shape_keys"),
    *("bound_on_a_posed_bone", "unbound_on_a_posed_bone", "unbound_child_of_a_posed_bone"),
    *("shared_mesh", "modifiers_before_and_after", "unicode_names_of_63_bytes", "hidden_rig"),
)


@pytest.mark.slow
@pytest.mark.parametrize("name", ROWS)
def test_undo_and_redo(name):
    tube = make(name, None).tube.name
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.ed.undo()
    states, weights = [without_memory(deep_snapshot())], []
    for _ in range(2):
        auto_weight()
        bpy.ops.ed.undo_push(message="weighted")
        states.append(without_memory(deep_snapshot()))
        weights.append(entries(bpy.data.objects[tube]))
    assert any(weights[0]) and weights[0] == weights[1]
    assert difference(states[1], states[2]) == {}
    for call, state in ((bpy.ops.ed.undo, 1), (bpy.ops.ed.undo, 0), (bpy.ops.ed.redo, 1)):
        call()
        assert difference(states[state], without_memory(deep_snapshot())) == {}
    assert entries(bpy.data.objects[tube]) == weights[0]
