"""The tab during a session: the number of its rows, and their contents."""

import bpy
import pytest
from rows_of import Rows
from scenes import addon, auto_weight, select, tube_and_rig
from sessions import cancel, settled


@pytest.fixture
def session():
    tube, rig = tube_and_rig()
    auto_weight(tube, rig)
    found = settled(tube, rig)
    select(tube)
    bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
    yield tube
    cancel(found)


def drawn():
    layout = Rows()
    addon("panels.session_box").draw_session(layout, bpy.context)
    return layout


MOST = 10


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("edits", [0, 3])
def test_at_most_ten_rows(session, masked, edits):
    session.data.use_paint_mask_vertex = masked
    for k in range(edits):
        session.data.araplbs.edits.add().name = f"Edit {k}"
    layout = drawn()
    assert 7 <= layout.count <= MOST, layout.words


def test_each_word_once(session):
    """The box offers brushes or the same functions for selected vertices, never both."""
    for masked in (False, True):
        session.data.use_paint_mask_vertex = masked
        words = [word for word in drawn().words if word]
        assert len(words) == len(set(words)), words
        assert ("Bone Influence" in words) != masked and ("Add Influence" in words) == masked
        assert any(word.startswith(("Mark Rigid", "Rigid Parts")) for word in words)
