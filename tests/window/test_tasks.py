"""Transferring, baking, comparing and weighting new vertices in a window: progress, Esc, one undo
step, the overlay."""

import bmesh
import bpy
import scenes
from driver import Draws, at_work, clear, held, once, open_sidebar, show, wait_for_end


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


def test_transfer_escape(ui):
    once()
    tube, _rig = make_body()
    sleeve = scenes.add_tube("Sleeve", radius=0.33, rings=25, sides=14, caps=False)
    scenes.select(sleeve, tube)
    for turns in (0, 8):
        before = pushed()
        yield from cancelled(ui, before, bpy.ops.object.araplbs_transfer, turns)


def test_bake(ui):
    tube, rig = make_body()
    tube.modifiers.new("Smooth", "CORRECTIVE_SMOOTH").iterations = 15
    scenes.select(tube, rig)
    before = pushed()
    with ui.override():
        assert bpy.ops.object.araplbs_bake("INVOKE_DEFAULT", frames=20) == {"RUNNING_MODAL"}
    yield from wait_for_end()
    assert_whole("Tube")
    assert scenes.snapshot() != before
    yield from undone(ui, before)


def test_bake_escape(ui):
    tube, rig = make_body()
    tube.modifiers.new("Smooth", "CORRECTIVE_SMOOTH").iterations = 15
    scenes.select(tube, rig)
    yield from cancelled(ui, pushed(), bpy.ops.object.araplbs_bake, frames=400)


def test_compare(ui):
    once()
    tube, rig = make_body()
    scenes.select(tube, rig)
    before, folder = pushed(), ui.pictures / "comparison"
    with ui.override():
        found = bpy.ops.object.araplbs_compare(
            "INVOKE_DEFAULT", directory=str(folder), methods="present,heat,ours"
        )
    assert found == {"RUNNING_MODAL"}
    yield from wait_for_end()
    assert (folder / "index.html").is_file() and (folder / "report.json").is_file()
    assert scenes.snapshot() == before


def test_compare_escape(ui):
    once()
    tube, rig = make_body()
    scenes.select(tube, rig)
    before, folder = pushed(), ui.pictures / "cancelled"
    yield from cancelled(ui, before, bpy.ops.object.araplbs_compare, directory=str(folder))
    assert not folder.exists(), "nothing is written"


def test_only_new_in_edit_mode(ui):
    once()
    tube, rig = make_body()
    scenes.select(tube, rig, active=tube)
    with ui.override():
        bpy.ops.object.mode_set(mode="EDIT")
    cage = bmesh.from_edit_mesh(tube.data)
    layer = cage.verts.layers.deform.active
    for vertex in cage.verts:
        vertex.select_set(abs(vertex.co.z - 1) < 0.35)
        if vertex.select:
            vertex[layer].clear()
    new = [v.index for v in cage.verts if v.select]
    bmesh.update_edit_mesh(tube.data)
    bpy.ops.ed.undo_push(message="set-up")
    with ui.override():
        assert bpy.ops.object.araplbs_new_vertices("INVOKE_DEFAULT") == {"RUNNING_MODAL"}
    yield from wait_for_end()
    tube = bpy.data.objects["Tube"]
    assert tube.mode == "EDIT"
    cage = bmesh.from_edit_mesh(tube.data)
    layer = cage.verts.layers.deform.active
    cage.verts.ensure_lookup_table()
    assert all(abs(sum(cage.verts[i][layer].values()) - 1) < 1e-5 for i in new)
    ui.picture("only-new")
    ui.event("MOUSEMOVE", "NOTHING")
    yield 3
    ui.key("Z", ctrl=True)
    yield 8
    tube = bpy.data.objects["Tube"]
    cage = bmesh.from_edit_mesh(tube.data)
    layer = cage.verts.layers.deform.active
    cage.verts.ensure_lookup_table()
    assert not any(cage.verts[i][layer].values() for i in new)
    with ui.override():
        bpy.ops.object.mode_set(mode="OBJECT")
