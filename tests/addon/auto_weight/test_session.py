"""The live session: its start, accepting, restoring, and its messages."""

from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from scenes import (
    add_tube,
    addon,
    assert_good,
    auto_weight,
    bind,
    deform_names,
    entries,
    package,
    select,
    snapshot,
    tube_and_rig,
    weights,
)
from sessions import (
    accept,
    cancel,
    edit,
    finish,
    frame_by_frame,
    ordered,
    painted_tube,
    pick,
    settle,
    settled,
    start,
    tick_until,
)


def test_reports_preserve_volume():
    """The report mentions Preserve Volume from the first frame to the accepted weights."""
    tube, rig = painted_tube(rings=19, sides=10)
    tube.modifiers["Armature"].use_deform_preserve_volume = True
    session = settled(tube, rig)
    accept(session)
    found = session.report["deformers"]
    assert found["preserve_volume"] == ["Tube"] and found["envelopes"] == []
    assert found["energy_before"] > found["energy_after"] > 0


def test_keeps_what_converged():
    """Three or more frames reach the groups; the last frame is accepted and cleaned up."""
    tube, rig = painted_tube()
    session, seen = start(tube, rig), []
    with frame_by_frame() as go_on:

        def look():
            frame, last = session.frame, seen[-1] if seen else -1
            if frame and last < session.written == frame.number:
                seen.append(session.written)
                go_on()
            return session.settled

        tick_until(session, look)
    assert seen == list(range(len(seen))) and len(seen) >= 3
    assert session.frame.energies[-1] < session.frame.energies[0]
    accept(session)
    assert session.report["energy_after"] == session.frame.energies[-1] and not session.message
    found = session.report["deformation"]
    told = found["before"]["surface_strain"], found["after"]["surface_strain"]
    assert told == session.frame.strains and told[0] > told[1] > 0
    dense = assert_good(tube, rig)
    rows = session.frame.rows
    expected = np.zeros((rows.count, 3))
    expected[rows.vertices, rows.bones] = rows.weights.astype(np.float32)
    np.testing.assert_array_equal(dense, expected)
    assert tube.vertex_groups["Other"].weight(0) == 0.25
    assert not tube.data.araplbs.session


@pytest.mark.parametrize("frames", [0, 1, 4])
def test_restores_all(frames):
    """The restored state includes the order of a vertex's entries; groups that did not exist before
    are removed."""
    tube, rig = painted_tube()
    tube.vertex_groups.remove(tube.vertex_groups["lower"])
    tube.vertex_groups.active_index = 1
    before, order = snapshot(), ordered(tube)
    session = start(tube, rig)
    tick_until(session, lambda: session.written >= frames or session.settled)
    assert snapshot() != before
    cancel(session)
    assert session.report is None and session.message is None
    assert snapshot() == before and ordered(tube) == order
    assert not session.worker.running


def test_restores_at_once():
    tube, rig = painted_tube()
    before = snapshot()
    session = start(tube, rig)
    tick_until(session, lambda: session.written >= 1)
    session.restore_now()
    assert session.state == "ENDED" and snapshot() == before


@pytest.mark.parametrize(("step", "steps"), [(0.004, 3), (0.006, 2), (0.02, 1)])
def test_a_tick_begins_no_step_that_it_has_no_time_for(step, steps, monkeypatch):
    """A tick runs at least one step. In 15 ms, it runs two steps of 6 ms, not three."""
    module, clock, done = addon("operators.session"), [5.0], []

    def work():
        clock[0] += step
        done.append(clock[0])
        return True

    monkeypatch.setattr(module, "time", SimpleNamespace(perf_counter=lambda: clock[0]))
    session = SimpleNamespace(state=module.RUNNING, _step=work)
    module.LiveSession.tick(session, 0.015)
    assert len(done) == steps and session.busy


def test_a_session_with_nothing_left_is_looked_at_less_often(monkeypatch):
    module, clock, ticks = addon("operators.live_operator"), [5.0], []
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    session = SimpleNamespace(state="RUNNING", _step=lambda: False)

    def tick(seconds):
        ticks.append(clock[0])
        addon("operators.session").LiveSession.tick(session, seconds)

    session.tick, quiet = tick, lambda *_arguments: None
    operator = SimpleNamespace(_session=session, _looked=0.0, follow=quiet, show_status=quiet)

    def looks(turns, busy):
        ticks.clear()
        for _ in range(turns):
            session.busy = busy or session.busy
            clock[0] += module.BUSY_TICK
            module.LiveOperator.turn(operator, None)
        return len(ticks)

    session.busy = True
    assert looks(10, busy=True) == 10
    assert looks(10, busy=False) == 5 and not session.busy


def test_no_weights_yet():
    """A session that should start from the current weights, which are missing, computes new weights
    and reports this."""
    tube, rig = tube_and_rig()
    session = settled(tube, rig)
    assert any("no weights yet" in line for line in session.task.warnings)
    accept(session)
    assert_good(tube, rig)


def test_kept_half_way_has_no_more_influences_than_allowed():
    tube, rig = painted_tube()
    session = start(tube, rig, start_from="FRESH", max_influences=1, symmetric=False)
    tick_until(session, lambda: session.written >= 0)
    accept(session)
    assert_good(tube, rig, most=1)


@pytest.mark.parametrize("change", ["delete mesh", "delete rig", "add vertex", "rename bone"])
def test_changed_meanwhile(change):
    """The session ends with a reason, and the remaining meshes get their weights back."""
    tube, rig = painted_tube()
    other = add_tube("Other", rings=30, sides=12)
    bind(other, rig)
    auto_weight(other, rig)
    before = {ob.name: entries(ob) for ob in (tube, other)}
    session = start(tube, other, rig)
    tick_until(session, lambda: session.written >= 1)
    assert entries(other) != before["Other"]
    if change == "delete mesh":
        bpy.data.objects.remove(tube)
    elif change == "delete rig":
        bpy.data.objects.remove(rig)
    elif change == "add vertex":
        tube.data.vertices.add(1)
    else:
        rig.data.bones["lower"].name = "other"
    accept(session)
    assert session.report is None and not session.restored
    assert "since it was" in session.message or "after it was read" in session.message, (
        session.message
    )
    assert entries(other) == before["Other"]
    if change in {"delete rig", "rename bone"}:
        assert entries(tube) == before["Tube"]
    assert not other.data.araplbs.session


def test_sorted_in_edit_mode_meanwhile():
    """After the vertices were renumbered, nothing can be restored by number. The last weights stay,
    and a message says so."""
    tube, rig = painted_tube()
    session = settled(tube, rig)
    after = weights(tube, deform_names(rig))
    places = [tuple(v.co) for v in tube.data.vertices]
    select(tube)
    bpy.ops.object.mode_set(mode="EDIT")
    session.tick(0.01)
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.sort_elements(type="REVERSE", elements={"VERT"})
    bpy.ops.object.mode_set(mode="OBJECT")
    cancel(session)
    assert (
        "has changed since it was read and keeps the last weights" in session.message
        and not session.restored
    )
    now = dict(
        zip(
            (tuple(v.co) for v in tube.data.vertices), weights(tube, deform_names(rig)), strict=True
        )
    )
    for place, row in zip(places, after, strict=True):
        np.testing.assert_array_equal(now[place], row)


def test_restored_at_once_in_edit_mode():
    """The weights are restored at once if the window is closed or the add-on is disabled while a
    mesh is in Edit mode."""
    tube, rig = painted_tube()
    before = entries(tube)
    session = start(tube, rig)
    tick_until(session, lambda: session.written >= 1)
    select(tube)
    bpy.ops.object.mode_set(mode="EDIT")
    session.restore_now()
    assert session.state == "ENDED" and session.restored
    bpy.ops.object.mode_set(mode="OBJECT")
    assert entries(tube) == before


def test_edit_mode_in_the_middle_of_a_write():
    tube, rig = painted_tube(rings=300, sides=40)
    before = entries(tube)
    session = start(tube, rig)
    tick_until(session, lambda: session.frame is not None)
    for _ in range(3):
        session.tick(0)
    select(tube)
    bpy.ops.object.mode_set(mode="EDIT")
    for _ in range(5):
        session.tick(0.01)
    session.keep()
    session.tick(0.01)
    assert session.state == "KEEPING", "waits"
    bpy.ops.object.mode_set(mode="OBJECT")
    finish(session)
    assert session.report and entries(tube) != before
    assert_good(tube, rig)


def test_saved_in_the_middle(tmp_path):
    """The file contains the earlier weights, and the session continues."""
    tube, rig = painted_tube()
    before = entries(tube)
    session = settled(tube, rig)
    live = weights(tube, deform_names(rig))
    path = tmp_path / "middle.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)
    settle(session)
    np.testing.assert_allclose(weights(tube, deform_names(rig)), live, atol=0.002)
    accept(session)
    bpy.ops.wm.open_mainfile(filepath=str(path))
    tube = bpy.data.objects["Tube"]
    assert entries(tube) == before and not tube.data.araplbs.session


def test_an_unexpected_error_puts_back_all(monkeypatch):
    tube, rig = painted_tube()
    before = snapshot()
    session = start(tube, rig)
    tick_until(session, lambda: session.written >= 0)
    monkeypatch.setattr(session, "_take_edits", lambda: 1 / 0)
    finish(session)
    assert isinstance(session.error, ZeroDivisionError) and not session.restored
    assert snapshot() == before


@pytest.mark.parametrize("energy", [{"bone_spring_stiffness": 0, "edge_power": 0}, {}])
def test_report_of_weights_kept_half_way(energy):
    """The report describes the accepted weights rather than the weights before limiting, and the
    energy that is minimized."""
    import araplbs

    tube, rig = painted_tube()
    session = start(tube, rig, start_from="FRESH", max_influences=1, symmetric=False, **energy)
    tick_until(session, lambda: session.frame is not None)
    accept(session)
    assert session.report["most_influences"] == 1 == session.report["mean_influences"]
    arguments = session.task.problem.arguments
    poses = (
        package("character.pose_sets")
        .pose_set(session.task.problem, session.task.options)
        .transforms
    )
    dense = weights(tube, deform_names(rig))
    expected = araplbs.energy(arguments["vertices"], arguments["triangles"], dense, poses)
    if energy:  # the paper's
        assert session.report["energy_after"] == pytest.approx(expected, rel=1e-4)
    else:
        assert abs(session.report["energy_after"] / expected - 1) > 1e-3  # that of the springs
    first = araplbs.Solver(**session.task.problem.solver_arguments(session.task.options))
    assert session.report["energy_before"] == pytest.approx(first.energies[0], rel=1e-4)
    few = package("character.pose_sets").measured_poses(session.task.problem, session.task.options)
    assert len(few.transforms) < len(poses)
    seen = araplbs.deformation(arguments["vertices"], arguments["triangles"], dense, few.transforms)
    after = session.report["deformation"]["after"]["surface_strain"]
    assert after == pytest.approx(seen["area"], rel=1e-4) == session.frame.strains[1]


def test_what_a_session_says():
    """The session states the stretch of the frame that is shown, never that of a start that nobody
    has seen."""
    tube, rig = painted_tube()
    session = settled(tube, rig)
    facts = addon("operators.live_operator").session_facts(session)
    _before, after = session.frame.strains
    assert facts[0] == f"Stretch {100 * after:.1f} %"
    assert session.frame.curve[0] == session.frame.strains[0] and session.frame.curve[-1] == after
    cancel(session)


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
