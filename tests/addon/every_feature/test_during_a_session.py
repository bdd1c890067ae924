"""During a session, all operators that would interfere with its weights refuse, with the same
message."""

import bpy
import pytest
from scenes import auto_weight, select, tube_and_rig
from sessions import cancel, settled

REFUSING = (
    *("auto_weight", "show_weights", "keep_shown_weights", "original_weights", "select_note"),
    *("show_problems", "show_worst", "bendy", "reduce_bones_ask", "compare_methods"),
    *("repair", "check", "joints"),
)


@pytest.fixture
def session():
    tube, rig = tube_and_rig()
    auto_weight(tube, rig)
    found = settled(tube, rig)
    yield tube, rig
    cancel(found)


@pytest.mark.parametrize("name", REFUSING)
def test_refused(session, name):
    select(*session, active=session[1] if name == "bendy" else session[0])
    with pytest.raises(RuntimeError, match="A session is running: accept or cancel it first"):
        getattr(bpy.ops.object, f"araplbs_{name}")()
