"""Transferring weights in a window: the overlay, the question, progress, Esc, one undo step."""

import bpy
import doors
import scenes
from driver import (
    Draws,
    at_work,
    clear,
    click,
    held,
    once,
    open_sidebar,
    settings,
    show,
    still,
    wait_for_end,
)


def make_body(rings=19, sides=10):
    """A weighted tube on its rig."""
    clear()
    rig = scenes.add_armature()
    tube = scenes.add_tube(rings=rings, sides=sides)
    scenes.bind(tube, rig)
    scenes.auto_weight(tube, rig, pose_count=10, iterations=2)
    return tube, rig


def pushed():
    bpy.ops.ed.undo_push(message="set-up")
    return scenes.snapshot()


def assert_whole(name):
    names = scenes.deform_names(bpy.data.objects["Rig"])
    weights = scenes.weights(bpy.data.objects[name], names)
    assert abs(weights.sum(1) - 1).max() < 1e-6


def undone(ui, before):
    ui.event("MOUSEMOVE", "NOTHING")
    yield 3
    ui.key("Z", ctrl=True)
    yield 8
    assert scenes.snapshot() == before, "one Ctrl-Z takes back all, and nothing else"


def cancelled(ui, before, call, turns=8, **options):
    """Presses Esc on the running operator after this many turns; 0: before the window is drawn
    again."""
    with held():
        with ui.override():
            assert call("INVOKE_DEFAULT", **options) == {"RUNNING_MODAL"}
        for _ in range(turns):
            yield
        assert at_work()
        ui.key("ESC")
        yield 5
        assert not bpy.context.window_manager.windows[0].modal_operators, "over at once"
        yield from wait_for_end()
    assert scenes.snapshot() == before


def test_transfer(ui):
    once()
    tube, _rig = make_body()
    sleeve = scenes.add_tube("Sleeve", radius=0.33, rings=25, sides=14, caps=False)
    scenes.select(sleeve, tube)
    before = pushed()
    yield from open_sidebar(ui)
    show(ui)
    with Draws(), ui.override():
        assert bpy.ops.object.araplbs_show_matches() == {"FINISHED"}
        yield 8
        ui.picture("transfer-matches")
    assert scenes.snapshot() == before, "matches are shown, nothing is written"
    with ui.override():
        assert bpy.ops.object.araplbs_transfer("INVOKE_DEFAULT") == {"RUNNING_MODAL"}
    yield from wait_for_end()
    assert_whole("Sleeve")
    ui.picture("transfer")
    yield from undone(ui, before)


def test_transfer_again(ui):
    """The button is pressed twice under the same mouse, with the garment active, and the body stays
    unchanged. The other direction is asked about first, because most of the body matches nothing:
    Esc and Enter change nothing."""
    once()
    tube, _rig = make_body()
    sleeve = scenes.add_tube("Sleeve", radius=0.33, length=1.0, rings=9, sides=14, caps=False)
    scenes.select(tube, sleeve)
    show(ui)
    yield from open_sidebar(ui)
    bpy.ops.ed.undo_push(message="set-up")
    before, result = scenes.entries(tube), scenes.addon("features.auto_weight.outcome")
    first = scenes.addon("panels.main_panel").VIEW3D_PT_araplbs
    drawn, first.draw = (
        first.draw,
        scenes.addon("panels.clothes_panel").VIEW3D_PT_araplbs_clothes.draw,
    )
    try:
        yield from still(ui)
        buttons = yield from doors.doors_of_sidebar(ui)
        [at] = [at for call, at in buttons.items() if "araplbs_transfer(" in call]
        for _ in range(2):
            yield from click(ui, at)
            yield from wait_for_end()
            yield from still(ui)
            assert_whole("Sleeve")
            assert scenes.entries(bpy.data.objects["Tube"]) == before
            assert result.outcome_at_hand(bpy.context), "it is told in the Result"
            ui.picture("transfer-again")
    finally:
        first.draw = drawn
    yield from still(ui)
    ui.picture("transfer-result")
    yield from asked_first(ui)


def asked_first(ui):
    settings().transfer.sources = "ACTIVE"
    bpy.ops.ed.undo_push(message="direction")
    before = scenes.snapshot()
    for key in ("ESC", "RET", "T"):  # the letter that Blender underlines in Transfer Anyway
        ui.event("MOUSEMOVE", "NOTHING")
        yield 3
        with ui.override():
            assert bpy.ops.object.araplbs_transfer("INVOKE_DEFAULT") == {"RUNNING_MODAL"}
        yield from wait_for_end()
        yield from still(ui)
        assert scenes.snapshot() == before, "nothing has changed when it asks"
        ui.picture("transfer-question")
        ui.key(key)
        yield 10
        yield from wait_for_end()
        assert (scenes.snapshot() == before) == (key != "T"), key


def test_transfer_escape(ui):
    once()
    tube, _rig = make_body()
    sleeve = scenes.add_tube("Sleeve", radius=0.33, rings=25, sides=14, caps=False)
    scenes.select(sleeve, tube)
    for turns in (0, 8):
        before = pushed()
        yield from cancelled(ui, before, bpy.ops.object.araplbs_transfer, turns)
