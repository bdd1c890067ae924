"""From the Result to the list of problems, to the list of control bones, to a cure and to a repair,
each with one mouse click. The pictures are for visual inspection."""

import bpy
import doors
import scenes
from driver import Draws, at_work, click, newest_only, solving, still, wait_for_end, wait_until
from test_result_views import alone, at_hand, weighted_twice


def lines(layout, context, outcome):
    """The lines of the Result box, with their buttons."""
    box = scenes.addon("panels.result_box")
    box._draw_gains(context, layout, outcome)
    for index, note in enumerate(outcome.notes):
        box._draw_note(context, layout, index, note)


def find(buttons, *words):
    """The position of the button whose call contains these words."""
    return next(at for call, at in buttons.items() if all(word in call for word in words))


def test_cures_are_one_click_away(ui):
    newest_only()
    _rig, meshes = yield from weighted_twice(ui)
    outcome = at_hand()
    report = scenes.addon("operators.last_report").report_of(bpy.context.scene)
    body = max(meshes, key=lambda ob: len(ob.data.vertices))
    body.vertex_groups[0].lock_weight = True
    control = {"spine": "SERVED"}
    result_notes = scenes.package("reports.notes").result_notes
    outcome.notes = result_notes(report | {"control_bones": control}, locked_groups=1)
    with alone(lines):
        yield from still(ui)
        ui.picture("cures-lines")
        buttons = yield from doors.doors_of_sidebar(ui)
        yield from opens(ui, find(buttons, "call_panel", "araplbs_bones"), "bones", "cures-list")
        yield from opens(ui, find(buttons, "araplbs_show_problems"), "check", "cures-show")
        yield from click(ui, find(buttons, "araplbs_unlock_groups"))
        assert not body.vertex_groups[0].lock_weight, "one click to a cure"
        before = outcome.facts["problems"][1]
        assert before > 0, "something is left to repair"
        yield from click(ui, find(buttons, "araplbs_repair"))
        yield from wait_until(lambda: solving() or at_work())  # one click to the repair
        yield from wait_for_end()
        yield from still(ui)
        assert at_hand().facts["problems"][1] <= before
        ui.picture("cures-repaired")


def opens(ui, at, name, picture):
    """A click at this position opens a panel of ours."""
    with Draws() as draws:
        yield from click(ui, at)
        yield from still(ui)
        assert f"VIEW3D_PT_araplbs_{name}" in draws.drawn, draws.drawn
        ui.picture(picture)
    ui.event("ESC", "PRESS")
    ui.event("ESC", "RELEASE")
    yield 5
