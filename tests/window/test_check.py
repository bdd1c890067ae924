"""Check Weights in a window: clicks on the button, on a finding and on Repair; Esc, undo,
pictures."""

import bpy
import flaws
import numpy as np
import scenes
from driver import (
    Draws,
    clear,
    click,
    held,
    inside,
    open_sidebar,
    show,
    still,
    wait_for_end,
    wait_until,
    when_named,
)

# From the top left of the sidebar, with the first panel closed.
FIRST_HEADER, HEADER = (60, 12), (60, 40)
BUTTON, FIRST_LINE, REPAIR = (120, 76), (60, 138), (75, 289)


def open_panel(ui):
    yield from open_sidebar(ui)
    yield from click_headers(ui, FIRST_HEADER, HEADER)


def click_headers(ui, *places):
    for place in places:
        yield from click(ui, inside(ui, "UI", place))
        yield from still(ui)


def choose_first(ui):
    """Clicks on the first line of the list until the click takes effect."""
    for _ in range(6):
        yield from click(ui, inside(ui, "UI", FIRST_LINE))
        yield from still(ui)
        if flaws.shown().active == 0:
            return
    ui.picture("check-list")
    raise AssertionError("the first line is not chosen: see check-list.png")


def paint(ui, ob):
    with ui.override():
        scenes.select(ob)
        bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
    bpy.ops.ed.undo_push(message="set-up")


def test_check_select_and_repair(ui):
    clear()
    tube, rig, _places = flaws.flawed("UNWEIGHTED", "UNNORMALIZED", "SPECKLE")
    rig.show_in_front = True
    show(ui)
    paint(ui, tube)
    before = scenes.entries(tube)
    with Draws() as draws:
        yield from open_panel(ui)
        assert "VIEW3D_PT_araplbs_check" in draws.since(), "the panel does not open"
        yield from click(ui, inside(ui, "UI", BUTTON))
        yield from wait_until(lambda: flaws.found().checked)
        yield 8
        yield from choose_first(ui)
        finding = flaws.found().findings[0]
        assert flaws.selected(tube) == finding.vertices.tolist()
        assert tube.data.use_paint_mask_vertex and scenes.entries(tube) == before
        ui.picture("check-finding")
        yield from click(ui, inside(ui, "UI", REPAIR))
        yield from wait_until(lambda: flaws.shown().active == -1)
        yield 8
        tube = bpy.data.objects["Tube"]
        assert scenes.entries(tube) != before
        left = [f for f in flaws.found().findings if f.kind == finding.kind]
        assert not any(np.isin(f.vertices, finding.vertices).any() for f in left)
        ui.picture("check-repaired")
        ui.event("MOUSEMOVE", "NOTHING")
        yield 3
        ui.key("Z", ctrl=True)
        yield from wait_until(lambda: flaws.shown().active == 0)
        yield 8
        assert scenes.entries(bpy.data.objects["Tube"]) == before, "one Ctrl-Z takes it back"
        ui.picture("check-undone")
        yield from click_headers(ui, HEADER, FIRST_HEADER)  # as other tests expect them


def test_check_escape(ui):
    """Nothing is listed, and nothing is written."""
    clear()
    rig = scenes.add_armature()
    tube = scenes.add_tube()
    scenes.bind(tube, rig)
    scenes.auto_weight(tube, rig, pose_count=4, iterations=1)
    scenes.select(tube, rig)
    yield 8
    yield from wait_for_end()  # of the pictures in the Result box, too
    before = scenes.snapshot()
    for call in (bpy.ops.object.araplbs_check, bpy.ops.object.araplbs_repair):
        with held():
            with ui.override():
                assert call("INVOKE_DEFAULT") == {"RUNNING_MODAL"}
            ui.key("ESC")
            yield 8
            assert not ui.window.modal_operators, "over at once"
            yield from wait_for_end()
        assert not flaws.found().checked and scenes.snapshot() == before


def test_check_character(ui):
    """The findings of a character, for visual inspection and for the manual."""
    when_named()
    import character

    clear()
    rig, meshes = character.make_character()
    for ob in meshes:
        scenes.bind(ob, rig)
    body = max(meshes, key=lambda ob: len(ob.data.vertices))
    scenes.auto_weight(*meshes, rig)
    spoil(body)
    scenes.select(*meshes, rig, active=body)
    show(ui)
    bpy.ops.ed.undo_push(message="set-up")
    with ui.override():
        assert bpy.ops.object.araplbs_check() == {"FINISHED"}
        bpy.ops.object.select_all(action="DESELECT")
    yield from open_panel(ui)
    flaws.choose("UNWEIGHTED")
    view = ui.area().spaces.active.region_3d
    view.view_location, view.view_distance = (0.25, 0, 1.15), 1.6
    yield from still(ui)
    ui.picture("check-character")
    yield from click_headers(ui, HEADER, FIRST_HEADER)


def spoil(body):
    """A bare chest, a forearm painted on only one side, stray vertices of a thigh, six bones at the
    neck."""
    x, y, z = np.array([vertex.co for vertex in body.data.vertices]).T
    group = body.vertex_groups
    bare = np.flatnonzero((np.hypot(x - 0.05, z - 1.25) < 0.06) & (y < 0))
    flaws.remove(body, bare.tolist())
    arm = np.flatnonzero((x > 0.45) & (x < 0.52))
    group["upper_arm.L"].add(arm.tolist(), 0.3, "ADD")
    stray = np.flatnonzero((np.abs(z - 0.7) < 0.1) & (x > 0))[::40].tolist()
    flaws.remove(body, stray)
    group["head"].add(stray, 1.0, "REPLACE")
    neck = np.flatnonzero(np.abs(z - 1.4) < 0.02).tolist()
    for name in ("hips", "spine", "chest", "neck", "head"):
        group[name].add(neck, 0.05, "ADD")
