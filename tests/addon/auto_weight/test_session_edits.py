"""Actions during a live session: edits, undo, other modes, groups."""

import bpy
import numpy as np
import pytest
from patience import wait_until
from scenes import (
    add_cube,
    addon,
    assert_good,
    auto_weight,
    bind,
    deform_names,
    entries,
    package,
    select,
    snapshot,
    weights,
)
from sessions import (
    accept,
    cancel,
    edit,
    frame_by_frame,
    painted_tube,
    pick,
    settle,
    settled,
    start,
    tick_until,
)


def test_edits_are_applied():
    """A requested weight, a removed influence and a link each change the weights at once, and so
    does undo."""
    tube, rig = painted_tube()
    cube = add_cube("Cube", (0.9, 0, 1.5), 0.2)
    bind(cube, rig)
    auto_weight(tube, cube, rig)
    before = snapshot()
    session = start(tube, cube, rig, symmetric=False)
    try:
        settle(session)
        names = deform_names(rig)
        ring = np.arange(24 * 10, 24 * 11)
        assert weights(tube, names)[ring, 2].max() < 0.2
        select(tube)
        pick(tube, ring)
        edit(kind="WEIGHT", bone="upper", weight=0.8)
        settle(session)
        pinned = weights(tube, names)
        assert pinned[ring, 2].min() > 0.6
        edit(kind="INFLUENCE", bone="lower", remove_influence=True)
        settle(session)
        assert not weights(tube, names)[ring, 0].any()
        assert len(tube.data.araplbs.edits) == 2
        assert session.undo_edit() and session.undo_edit() and not session.undo_edit()
        settle(session)
        assert len(tube.data.araplbs.edits) == 0
        assert weights(tube, names)[ring, 2].max() < 0.3
        assert session.undo_edit(redo=True)
        settle(session)
        assert weights(tube, names)[ring, 2].min() > 0.6

        select(cube)
        assert bpy.ops.object.araplbs_add_link(first=0, second=7) == {"FINISHED"}
        settle(session)
        assert [item.kind for item in cube.data.araplbs.edits] == ["LINK"]
        cancel(session)
    finally:
        addon("operators.session").end_session()
    select(tube, cube, rig)
    assert snapshot() == before
    assert not tube.data.araplbs.edits and not cube.data.araplbs.edits
    assert not [a.name for ob in (tube, cube) for a in ob.data.attributes if "araplbs" in a.name]


def test_release():
    """A vertex tied to a bone is released, with a message."""
    tube, rig = painted_tube()
    session = settled(tube, rig)
    tied_vertices = addon("features.edits.brush").tied_vertices
    tube.vertex_groups.active = tube.vertex_groups["upper"]
    vertices, held, released = tied_vertices(session, tube)
    assert len(vertices) and not released.any() and (held > 0).all()
    assert not len(tied_vertices(session, rig)[0]) and not len(tied_vertices(None, tube)[0])
    addon("features.edits.operator").paint_edit(tube.data, "RELEASE", "upper", vertices[:1], 1)
    settle(session)
    vertices_now, _held, released = tied_vertices(session, tube)
    assert vertices[0] in vertices_now[released]
    cancel(session)


def test_smooth_weights():
    """Smoothness is painted during the session and undone again. The end of the session restores
    everything."""
    tube, rig = painted_tube()
    before = snapshot()
    session = settled(tube, rig)
    rough = [v.index for v in tube.data.vertices if abs(v.co.z - 1) < 0.25]
    paint_edit = addon("features.edits.operator").paint_edit
    found = []
    for strength in (0, 1, 0):
        kept = session.copy_edits()
        paint_edit(tube.data, "SMOOTH", "", rough, strength)
        session.note_edit(kept)
        settle(session)
        found.append(session.frame.energies[-1])
    assert found[1] > found[0] and found[2] < found[1]
    session.undo_edit()
    settle(session)
    assert [item.kind for item in tube.data.araplbs.edits] == ["SMOOTH"]
    cancel(session)
    assert snapshot() == before


def test_release_of_attached_vertices():
    """The paper's rows are used instead of springs."""
    tube, rig = painted_tube()
    session = settled(
        tube, rig, start_from="FRESH", bone_spring_stiffness=0, paper_constraints=True
    )
    tube.vertex_groups.active = tube.vertex_groups["upper"]
    vertices, held, released = addon("features.edits.brush").tied_vertices(session, tube)
    assert len(vertices) and (held == 1).all() and not released.any()
    addon("features.edits.operator").paint_edit(tube.data, "RELEASE", "upper", vertices[:1], 1)
    settle(session)
    assert vertices[0] in vertices[addon("features.edits.brush").tied_vertices(session, tube)[2]]
    cancel(session)


def test_link_and_stroke_at_the_same_time():
    tube, rig = painted_tube()
    session = settled(tube, rig, symmetric=False)
    addon("blender.data.edits").add_link(tube.data, 0, 700)
    session.tick(0)
    addon("features.edits.operator").paint_edit(tube.data, "WEIGHT", "upper", range(240, 264), 1.8)
    session.tick(0)
    settle(session)
    assert weights(tube, deform_names(rig))[240:264, 2].min() > 0.6
    assert session.task.problem.arguments["edges"].tolist().count([0, 700]) == 1
    cancel(session)


def test_cut_down():
    """The largest weights stay, equal weights are treated equally, and locked weights always stay.
    The sums do not change."""
    rows = package("model.sparse_weights").make_sparse_weights(
        4,
        np.array([0, 0, 0, 1, 1, 1, 2, 2, 2, 3]),
        np.array([0, 1, 2, 0, 1, 2, 0, 1, 2, 0]),
        np.array([0.5, 0.2, 0.3, 0.4, 0.3, 0.3, 1 / 3, 1 / 3, 1 / 3, 1.0]),
    )
    cut = rows.cut_down(2, np.zeros(10, bool))
    np.testing.assert_allclose(cut.sums(), 1)
    assert cut.bones[cut.vertices == 0].tolist() == [0, 2]
    assert cut.bones[cut.vertices == 1].tolist() == [0], "both or none of two equal ones"
    assert (cut.vertices == 2).sum() == 2, "but not none at all"
    kept = np.zeros(10, bool)
    kept[1] = True
    cut = rows.cut_down(1, kept)
    assert cut.bones[cut.vertices == 0].tolist() == [0, 1]
    np.testing.assert_allclose(cut.weights[cut.vertices == 0], [0.8, 0.2])


def test_undo_that_leaves_the_session_ends_it_at_once():
    """Not even the rest of a frame is written into the state to which undo has led."""
    tube, rig = painted_tube(rings=300, sides=40)
    session = start(tube, rig)
    tick_until(session, lambda: session.frame is not None)
    session.tick(0)
    tube.data.araplbs.session = ""  # as in a state before the session
    now = entries(tube)
    addon("operators.session").after_undo(bpy.data.meshes)
    assert session.state == "ENDED" and "Undo" in session.message
    session.tick(0.1)
    assert entries(tube) == now


def test_undo_back_into_a_session_that_has_ended():
    """A state from the middle of the session shows the former weights, including groups and
    edits."""
    tube, rig = painted_tube()
    tube.vertex_groups.remove(tube.vertex_groups["lower"])
    before = snapshot()
    session = settled(tube, rig)
    addon("features.edits.operator").paint_edit(tube.data, "WEIGHT", "upper", range(240, 264), 1.8)
    settle(session)
    accept(session)
    session.forget()
    assert snapshot() != before
    tube.data.araplbs.session = session.token  # as undo brings it back
    addon("operators.session").after_undo(bpy.data.meshes)
    assert snapshot() == before
    assert not tube.data.araplbs.edits and not tube.data.araplbs.session


def test_edit_mode_pauses():
    tube, rig = painted_tube()
    before = entries(tube)
    session = start(tube, rig)
    with frame_by_frame() as go_on:
        tick_until(session, lambda: session.written >= 0)
        select(tube)
        bpy.ops.object.mode_set(mode="EDIT")
        go_on()
        wait_until(lambda: session.frame.number > session.written)
        written = session.written
        for _ in range(20):
            session.tick(0.01)
        assert session.written == written
    bpy.ops.object.mode_set(mode="OBJECT")
    settle(session)
    cancel(session)
    assert entries(tube) == before


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("change", ["move", "remove", "add", "paint"])
def test_groups_changed_meanwhile(change, kept):
    """Other operators change groups: the session identifies groups by name and notices changes to
    their weights."""
    tube, rig = painted_tube()
    names = [g.name for g in tube.vertex_groups]
    before = {name: weights(tube, [name]) for name in names}
    select(tube)
    session = settled(tube, rig)
    if change == "move":
        tube.vertex_groups.active_index = tube.vertex_groups["Other"].index
        bpy.context.view_layer.objects.active = tube
        bpy.ops.object.vertex_group_move(direction="DOWN")
        assert [g.name for g in tube.vertex_groups] != names
    elif change == "remove":
        tube.vertex_groups.remove(tube.vertex_groups["middle"])
    elif change == "add":
        tube.vertex_groups.new(name="Mine").add([3, 4], 0.5, "REPLACE")
    else:
        tube.vertex_groups["upper"].add(range(100), 0.9, "REPLACE")
    if kept:
        accept(session)
        assert session.report
        assert_good(tube, rig)
    else:
        cancel(session)
        assert session.restored
        for name in names:
            np.testing.assert_array_equal(weights(tube, [name]), before[name])
    np.testing.assert_array_equal(weights(tube, ["Other"]), before["Other"])
    if change == "add":
        assert tube.vertex_groups["Mine"].weight(3) == 0.5
