"""Tests the live session as a user sees it: watching, accepting, cancelling, and everything that
can happen in between."""

import threading
from functools import partial
from itertools import pairwise

import bpy
import numpy as np
import scenes
import sessions
from driver import (
    cancel,
    inside,
    newest_only,
    over,
    press,
    session,
    show,
    stroke,
    wait_until,
)
from paint_scenes import begin, make_tube, paint_mode, settle


def test_watch_then_escape(ui):
    newest_only()
    tube, _rig = make_tube()
    show(ui)
    before = scenes.snapshot()
    states = []
    with sessions.frame_by_frame() as go_on:
        begin(ui)

        def look():
            live = session()
            if live and live.frame and len(states) <= live.written == live.frame.number:
                states.append(scenes.entries(tube))
                go_on()
            return len(states) == 3

        yield from wait_until(look)
    assert all(a != b for a, b in pairwise(states)), "weights are seen while they converge"
    yield from settle()
    assert session().frame.iterations >= 3
    yield 8
    ui.picture("refine-converged")
    ui.key("ESC")
    yield from over()
    assert scenes.snapshot() == before, "bit for bit"


def test_right_mouse_cancels_nothing(ui):
    """The right mouse button opens menus and selects, as everywhere."""
    make_tube()
    begin(ui)
    yield from settle()
    ui.key("RIGHTMOUSE")
    yield 8
    ui.key("ESC")  # closes the menu
    yield 8
    assert session()
    ui.key("ESC")
    yield from over()


def test_escape_asks_where_strokes_were_made(ui):
    tube, _rig = make_tube()
    yield from paint_mode(ui, tube)
    before = scenes.snapshot()
    begin(ui)
    yield from settle()
    yield from stroke(ui, (0.45, 0.25), (0.55, 0.25))
    assert session().strokes == 1
    ui.key("ESC")
    yield 10
    ui.picture("refine-asks")
    ui.key("ESC")  # no
    yield 8
    assert session() and tube.data.araplbs.edits
    yield from cancel(ui)
    assert scenes.snapshot() == before


def test_keeps_on_while_posing(ui):
    """In Pose mode, the armature is posed during the session, and this is a separate undo step."""
    tube, rig = make_tube()
    scenes.select(rig)
    with ui.override():
        bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.ed.undo_push(message="posing")
    before = scenes.entries(tube)
    begin(ui)
    yield from settle()
    rig.pose.bones["upper"].rotation_mode = "XYZ"
    rig.pose.bones["upper"].rotation_euler.x = 1.0
    bpy.ops.ed.undo_push(message="pose")
    yield 5
    ui.picture("refine-posed")
    ui.key("Z", ctrl=True)
    yield 8
    tube, rig = bpy.data.objects["Tube"], bpy.data.objects["Rig"]
    assert rig.pose.bones["upper"].rotation_euler.x == 0
    if session():
        ui.key("ESC")
    yield from over()
    assert scenes.entries(tube) == before
    ui.key("Z", ctrl=True, shift=True)  # to the pose, in the middle of the session
    yield 8
    tube, rig = bpy.data.objects["Tube"], bpy.data.objects["Rig"]
    assert rig.pose.bones["upper"].rotation_euler.x == 1
    assert scenes.entries(tube) == before, "and not to half converged weights"


def test_another_file_in_the_middle(ui):
    make_tube()
    begin(ui)
    yield from wait_until(lambda: session() and session().written >= 0)
    live = session()
    bpy.ops.wm.read_homefile(use_factory_startup=True)
    yield 8
    assert session() is None and not live.worker.running and len(bpy.data.objects) == 3
    ui.key("A", alt=True)  # the window reacts
    yield 5
    assert not bpy.context.selected_objects


def test_window_closed_meanwhile(ui):
    """The window in which the session was started is closed."""
    tube, _rig = make_tube()
    before = scenes.entries(tube)
    with ui.override():
        bpy.ops.wm.window_new()
    yield 8
    window = bpy.context.window_manager.windows[-1]
    assert window != ui.window
    area = next(a for a in window.screen.areas if a.type == "VIEW_3D")
    region = next(r for r in area.regions if r.type == "WINDOW")
    with bpy.context.temp_override(window=window, area=area, region=region):
        bpy.ops.object.araplbs_refine_weights("INVOKE_DEFAULT")
    yield from wait_until(lambda: session() and session().written >= 0)
    with bpy.context.temp_override(window=window):
        bpy.ops.wm.window_close()
    yield 8
    assert session() is None and scenes.entries(bpy.data.objects["Tube"]) == before


def test_escape_stops_the_count(ui):
    """After a session, a thread counts its problems, and Esc over the view acts as the button
    "Stop". If there is nothing to stop, Esc has its usual function."""
    tube, rig = make_tube()
    show(ui)
    with ui.override():
        scenes.auto_weight(tube, rig)
    outcome = scenes.addon("features.auto_weight.outcome").latest_outcome()
    counting, go_on = scenes.addon("features.auto_weight.counting"), threading.Event()

    def work(progress):
        go_on.wait()
        if progress("", 0.5) is False:
            raise RuntimeError("stopped")

    ui.key("ESC")
    yield 3
    in_background = scenes.addon("operators.background").in_background
    worker = outcome.counting = in_background(work, partial(counting.take_count, outcome))
    try:
        yield from press(ui, "A", inside(ui, "WINDOW", (200, 200)))
        assert not worker.cancelled
        yield from press(ui, "ESC", inside(ui, "WINDOW", (200, 200)))
        assert worker.cancelled
    finally:
        go_on.set()
    yield from wait_until(lambda: outcome.counting is None)
    assert worker.error and worker.result is None


def drawn_in(turns):
    """A step for each turn. Returns the number of redraws of the 3D view."""
    drawn = []
    handle = bpy.types.SpaceView3D.draw_handler_add(
        lambda: drawn.append(1), (), "WINDOW", "POST_PIXEL"
    )
    try:
        for _ in range(turns):
            yield
    finally:
        bpy.types.SpaceView3D.draw_handler_remove(handle, "WINDOW")
    return len(drawn)


def test_no_redraw_without_a_change(ui):
    """A converged session leaves the window at rest, as Blender does."""
    tube, _rig = make_tube()
    yield from paint_mode(ui, tube)
    begin(ui)
    yield from settle()
    for _ in range(20):  # Blender itself may still draw; a session that draws never rests
        drawn = yield from drawn_in(60)
        if not drawn:
            break
    assert not drawn
    yield from cancel(ui)


def test_a_correction_is_shown(ui):
    """A click on a row of the list, which sets its index, turns the view to the vertices."""
    tube, _rig = make_tube()
    yield from paint_mode(ui, tube)
    edits = scenes.addon("blender.data.edits")
    for bone, vertices in (("lower", slice(0, 40)), ("upper", slice(-40, None))):
        values = np.zeros(len(tube.data.vertices))
        values[vertices] = 1.5
        edits.write_values(tube.data, edits.ensure_edit(tube.data, "WEIGHT", bone), values)
    yield 5
    view, seen = ui.area().spaces.active.region_3d, []
    for row in (0, 1, 0):
        with ui.override():
            bpy.context.window_manager.araplbs_correction = row
        yield 3
        seen.append(view.view_location.z)
    assert seen[0] == seen[2] and seen[1] > seen[0] + 1
