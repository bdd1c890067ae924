"""Operators with a dialog: from their menu through the dialog to their effect, with the keys that a
user presses."""

import bpy
import scenes
from driver import at_work, clear, once, settings, show, wait_for_end, wait_until

MENU = "VIEW3D_MT_object_parent"


def open_from_menu(ui, kind, menu):
    """Opens the menu and presses the entry of the operator class; our entries are the last ones."""
    menus, placed = scenes.addon("panels.menus"), scenes.addon("operators.menu_entries")
    ours = placed.entries(menus.KINDS, menu)
    ui.event("MOUSEMOVE", "NOTHING")
    yield 3
    with ui.override():
        bpy.ops.wm.call_menu(name=menu)
    yield 3
    for key in ("END", *("UP_ARROW",) * (len(ours) - 1 - ours.index(kind)), "RET"):
        ui.event(key, "PRESS")
        ui.event(key, "RELEASE")
        yield 3


def ask(ui, kind, menu):
    """Waits until the dialog is open and drawn."""
    drawn, draw = [], kind.draw

    def watched(operator, context):
        drawn.append(operator.bl_label)
        draw(operator, context)

    kind.draw = watched
    try:
        yield from open_from_menu(ui, kind, menu)
        yield from wait_until(lambda: drawn)
    finally:
        kind.draw = draw
    yield 3


def character(ui, folder):
    """A small character for comparing in a few poses; returns (the former state of the file, the
    expected page)."""
    clear()
    rig, tube = scenes.add_armature(), scenes.add_tube()
    scenes.bind(tube, rig)
    scenes.select(tube, rig)
    show(ui)
    comparison = settings().comparison
    comparison.judged_poses, comparison.judged_frames = 2, 0
    comparison.directory = str(ui.pictures / folder)
    bpy.ops.ed.undo_push(message="set-up")
    return scenes.snapshot(), ui.pictures / folder / "index.html"


def compare_methods():
    return scenes.addon("features.compare.operator").OBJECT_OT_araplbs_compare_methods


def test_compare_methods_starts_from_its_menu(ui):
    before, page = character(ui, "asked")
    yield from ask(ui, compare_methods(), MENU)
    ui.picture("compare-dialog")
    ui.key("RET")
    yield 3
    assert at_work() or page.is_file(), "OK starts it"
    yield from wait_for_end()
    assert page.is_file(), "OK makes the page"
    assert scenes.snapshot() == before


def test_compare_methods_can_be_called_off(ui):
    once()
    before, page = character(ui, "called-off")
    yield from ask(ui, compare_methods(), MENU)
    ui.key("ESC")
    yield 10
    assert not at_work() and not page.parent.exists()
    assert scenes.snapshot() == before


def test_compare_methods_passes_refusals_on(ui):
    """In a file that was never saved, so there is no place for the page next to it."""
    once()
    before, _page = character(ui, "nowhere")
    settings().comparison.directory = "//comparison/"
    yield from ask(ui, compare_methods(), MENU)
    ui.key("RET")
    yield 8
    ui.picture("compare-refused")
    assert not at_work() and scenes.snapshot() == before


def test_the_popover_that_started_a_comparison_closes(ui):
    """A click where it was open reaches nothing of it."""
    _before, page = character(ui, "from-popover")
    panel = scenes.addon("panels.check_panel").VIEW3D_PT_araplbs_check
    found, draw = scenes.addon("features.check.findings_list").found, panel.draw

    def one_button(drawn, _context):
        column = drawn.layout.column()
        column.scale_y = 8
        column.operator("object.araplbs_check")

    panel.draw = one_button
    try:
        ui.event("MOUSEMOVE", "NOTHING")
        yield 3
        with ui.override():
            bpy.ops.wm.call_panel(name=panel.__name__, keep_open=True)
        yield 8
        ui.picture("popover-open")
        with ui.override():
            bpy.ops.object.araplbs_compare_methods("EXEC_DEFAULT")
        yield from wait_for_end()
        ui.picture("popover-closed")
        assert page.is_file() and not found.checked
        ui.key("LEFTMOUSE")
        yield 8
        yield from wait_for_end()
        assert not found.checked
    finally:
        panel.draw = draw
