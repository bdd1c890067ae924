"""The live session without a window: what its timer would do, done here."""

import time

import bpy
import numpy as np
import pytest
from scenes import (
    add_cube,
    add_tube,
    addon,
    assert_good,
    auto_weight,
    bind,
    deform_names,
    entries,
    select,
    snapshot,
    tube_and_rig,
    weights,
)

LIMIT = 60  # seconds for a session to get somewhere


def start(*objects, **options):
    select(*objects)
    options = {"start_from": "PRESENT", **options}
    return addon("session").Session(
        addon("blender.targets").find_targets(bpy.context),
        addon("core.options").Options(**options),
        bpy.context.view_layer,
    )


def tick_until(session, condition):
    end = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < end, f"still {session.state}"
        assert session.state != "ENDED", session.message
        session.tick(0.01)
        time.sleep(0.001)


def settle(session):
    tick_until(session, lambda: session.settled)


def finish(session):
    while session.state != "ENDED":
        session.tick(0.01)


def ordered(ob):
    """As entries(), with their order in each vertex."""
    return [[(g.group, g.weight) for g in v.groups] for v in ob.data.vertices]


def painted_tube(rings=60, sides=24):
    """Weighted, then painted over in places, with a group that no bone has."""
    tube, rig = tube_and_rig()
    bpy.data.objects.remove(tube)
    tube = add_tube(rings=rings, sides=sides)
    bind(tube, rig)
    other = tube.vertex_groups.new(name="Other")
    other.add(range(0, 200, 3), 0.25, "REPLACE")
    auto_weight(tube, rig)
    tube.vertex_groups["middle"].add(range(40, 90), 0.9, "REPLACE")
    tube.vertex_groups["upper"].remove(range(10, 50))
    return tube, rig


def test_keeps_what_converged():
    """Three frames and more reach the groups; what is kept is the last one, tidy."""
    tube, rig = painted_tube()
    session = start(tube, rig)
    seen = set()
    tick_until(session, lambda: seen.add(session.written) or session.settled)
    assert len(seen - {-1}) >= 3
    assert session.frame.energies[-1] < session.frame.energies[0]
    session.keep()
    finish(session)
    assert session.report["energy_after"] == session.frame.energies[-1] and not session.message
    dense = assert_good(tube, rig)
    rows = session.frame.rows
    expected = np.zeros((rows.count, 3))
    expected[rows.vertices, rows.bones] = rows.weights.astype(np.float32)
    np.testing.assert_array_equal(dense, expected)
    assert tube.vertex_groups["Other"].weight(0) == 0.25
    assert not tube.data.araplbs.session


@pytest.mark.parametrize("frames", [0, 1, 4])
def test_restores_all(frames):
    """Also the order of the entries of a vertex, and groups that were not there."""
    tube, rig = painted_tube()
    tube.vertex_groups.remove(tube.vertex_groups["lower"])
    tube.vertex_groups.active_index = 1
    before, order = snapshot(), ordered(tube)
    session = start(tube, rig)
    tick_until(session, lambda: session.written >= frames or session.settled)
    assert snapshot() != before
    session.restore()
    finish(session)
    assert session.report is None and session.message is None
    assert snapshot() == before and ordered(tube) == order
    assert not session.live.running


def test_restores_at_once():
    tube, rig = painted_tube()
    before = snapshot()
    session = start(tube, rig)
    tick_until(session, lambda: session.written >= 1)
    session.restore_now()
    assert session.state == "ENDED" and snapshot() == before


def test_cancelled_while_reading():
    tube, rig = painted_tube()
    before = snapshot()
    session = start(tube, rig)
    session.tick(0)
    session.restore()
    finish(session)
    assert snapshot() == before and session.report is None


def test_no_weights_yet():
    """Present weights are wanted, but there are none: fresh ones, and a word about it."""
    tube, rig = tube_and_rig()
    session = start(tube, rig)
    settle(session)
    assert any("fresh weights" in line for line in session.job.warnings)
    session.keep()
    finish(session)
    assert_good(tube, rig)


def test_kept_half_way_has_no_more_influences_than_allowed():
    tube, rig = painted_tube()
    session = start(tube, rig, start_from="FRESH", max_influences=1, symmetric=False)
    tick_until(session, lambda: session.written >= 0)
    session.keep()
    finish(session)
    assert_good(tube, rig, most=1)


def edit(**arguments):
    assert bpy.ops.object.araplbs_edit_vertices(**arguments) == {"FINISHED"}


def pick(ob, vertices):
    addon("operators.edit").select_vertices(ob.data, vertices)


def test_steering():
    """A wanted weight, a removed influence, a link: each changes the weights at once; undo too."""
    tube, rig = painted_tube()
    cube = add_cube("Cube", (0.9, 0, 1.5), 0.2)
    bind(cube, rig)
    auto_weight(tube, cube, rig)
    before = snapshot()
    session = start(tube, cube, rig, symmetric=False)
    addon("operators.refine")._current[:] = [session]
    try:
        settle(session)
        names = deform_names(rig)
        ring = np.arange(24 * 10, 24 * 11)
        assert weights(tube, names)[ring, 2].max() < 0.2
        select(tube)
        pick(tube, ring)
        edit(kind="WEIGHT", bone="upper", weight=0.8)
        settle(session)
        held = weights(tube, names)
        assert held[ring, 2].min() > 0.6
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
        session.restore()
        finish(session)
    finally:
        addon("operators.refine")._current.clear()
    select(tube, cube, rig)
    assert snapshot() == before
    assert not tube.data.araplbs.edits and not cube.data.araplbs.edits
    assert not [a.name for ob in (tube, cube) for a in ob.data.attributes if "araplbs" in a.name]


def test_release():
    """A row that holds a bone is let go, and says so."""
    tube, rig = painted_tube()
    session = start(tube, rig)
    settle(session)
    rows = [row for row in session.frame.constraint_rows if row["kind"] == "hold"]
    assert rows and not any(row["released"] for row in rows)
    bone = session.job.problem.skeleton.names[rows[0]["bone"]]
    addon("operators.edit").paint_edit(tube.data, "RELEASE", bone, [rows[0]["vertex"]], 1)
    settle(session)
    released = [row for row in session.frame.constraint_rows if row["released"]]
    assert (rows[0]["vertex"], rows[0]["bone"]) in [(r["vertex"], r["bone"]) for r in released]
    session.restore()
    finish(session)


@pytest.mark.parametrize("change", ["delete mesh", "delete rig", "add vertex", "rename bone"])
def test_changed_meanwhile(change):
    tube, rig = painted_tube()
    session = start(tube, rig)
    tick_until(session, lambda: session.written >= 0)
    if change == "delete mesh":
        bpy.data.objects.remove(tube)
    elif change == "delete rig":
        bpy.data.objects.remove(rig)
        session.keep()
    elif change == "add vertex":
        tube.data.vertices.add(1)
    else:
        rig.data.bones["lower"].name = "other"
        session.keep()
    finish(session)
    assert session.report is None and ("meanwhile" in session.message)
    assert not session.live.running


def test_edit_mode_pauses():
    tube, rig = painted_tube()
    before = entries(tube)
    session = start(tube, rig)
    tick_until(session, lambda: session.written >= 0)
    select(tube)
    bpy.ops.object.mode_set(mode="EDIT")
    for _ in range(20):
        session.tick(0.01)
    written = session.written
    time.sleep(0.3)
    for _ in range(20):
        session.tick(0.01)
    assert session.written == written
    bpy.ops.object.mode_set(mode="OBJECT")
    settle(session)
    session.restore()
    finish(session)
    assert entries(tube) == before


def test_locked_groups_and_paint_mask():
    tube, rig = painted_tube()
    tube.vertex_groups["middle"].lock_weight = True
    names = deform_names(rig)
    before = weights(tube, names)
    session = start(tube, rig)
    settle(session)
    session.keep()
    finish(session)
    after = weights(tube, names)
    np.testing.assert_array_equal(after[:, 1], before[:, 1])
    assert np.abs(after - before).max() > 0.01


def test_refine_operator_in_the_background():
    tube, rig = painted_tube()
    select(tube, rig)
    pick(tube, range(240, 264))
    select(tube)
    edit(kind="WEIGHT", bone="upper", weight=0.8)
    select(tube, rig)
    assert bpy.ops.object.araplbs_refine_weights("EXEC_DEFAULT") == {"FINISHED"}
    dense = assert_good(tube, rig)
    assert dense[240:264, 2].min() > 0.6
    assert auto_weight(tube, rig) == {"FINISHED"}
    assert assert_good(tube, rig)[240:264, 2].min() > 0.6, "every weighting follows edits"


def test_refine_in_pose_mode():
    tube, rig = painted_tube()
    select(rig)
    bpy.ops.object.mode_set(mode="POSE")
    assert bpy.ops.object.araplbs_refine_weights("EXEC_DEFAULT") == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    assert_good(tube, rig)
