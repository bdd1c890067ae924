"""The live session as a user meets it: watch, steer, keep, cancel, and everything that can happen
to it meanwhile."""

import json
import time

import bpy
import numpy as np
import scenes
from bpy_extras.view3d_utils import location_3d_to_region_2d
from driver import (
    click,
    inside,
    newest_only,
    open_sidebar,
    over,
    session,
    show,
    stroke,
    wait_until,
    when_named,
)

RINGS, SIDES = 60, 24


def make_tube(rings=RINGS, sides=SIDES, weigh=True):
    for ob in list(bpy.data.objects):
        bpy.data.objects.remove(ob)
    tube, rig = scenes.tube_and_rig()
    bpy.data.objects.remove(tube)
    tube = scenes.add_tube(rings=rings, sides=sides)
    scenes.bind(tube, rig)
    if weigh:
        scenes.auto_weight(tube, rig)
        tube.vertex_groups["middle"].add(range(SIDES * 8, SIDES * 14), 0.9, "REPLACE")
    scenes.select(tube, rig)
    bpy.ops.ed.undo_push(message="set-up")
    return tube, rig


def paint_mode(ui, tube, tool="araplbs.weight"):
    scenes.select(tube)
    show(ui)
    with ui.override():
        bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
        bpy.ops.wm.tool_set_by_id(name=tool)
    tube.vertex_groups.active_index = tube.vertex_groups["upper"].index
    bpy.ops.ed.undo_push(message="painting")
    yield 0.5


def begin(ui, **options):
    with ui.override():
        found = bpy.ops.object.araplbs_refine_weights("INVOKE_DEFAULT", **options)
    assert found == {"RUNNING_MODAL"}


def settle():
    yield from wait_until(lambda: session() and session().settled)


def test_three_iterations_then_escape(ui):
    newest_only()
    tube, _rig = make_tube(rings=400, sides=100)
    show(ui)
    before = scenes.snapshot()
    begin(ui)
    seen = {}

    def look():
        live = session()
        if live and live.written >= 0 and live.written not in seen:
            seen[live.written] = scenes.entries(tube)
        return len(seen) >= 3

    yield from wait_until(look)
    states = list(seen.values())
    assert states[0] != states[1] != states[2]
    yield from settle()
    yield 0.5
    ui.picture("refine-converged")
    ui.key("ESC")
    yield from over()
    assert scenes.snapshot() == before, "bit for bit"


def test_right_mouse_restores(ui):
    make_tube()
    before = scenes.snapshot()
    begin(ui)
    yield from settle()
    assert scenes.snapshot() != before
    ui.key("RIGHTMOUSE")
    yield from over()
    assert scenes.snapshot() == before


def test_stroke_accept_undo(ui):
    tube, rig = make_tube()
    yield from paint_mode(ui, tube)
    bpy.context.scene.araplbs_brush.radius = 40
    before = scenes.snapshot()
    begin(ui)
    yield from settle()
    first = scenes.weights(tube, ["upper"])
    yield from stroke(ui, (0.45, 0.25), (0.55, 0.25))
    items = list(tube.data.araplbs.edits)
    assert [(i.kind, i.bone) for i in items] == [("WEIGHT", "upper")]
    pinned = scenes.addon("blender.edits").edited_vertices(tube.data, items[0])
    assert len(pinned) > 10
    yield from settle()
    yield 0.5
    ui.picture("refine-stroke")
    after = scenes.weights(tube, ["upper"])
    assert (after - first)[pinned].mean() > 0.3, "what was painted is pinned"
    assert session().frame.iterations > 0

    ui.key("Z", ctrl=True)
    yield 0.2
    assert not tube.data.araplbs.edits and session()
    yield from settle()
    back = scenes.weights(tube, ["upper"])
    assert np.abs(back - first).max() < 0.3
    ui.key("Z", ctrl=True, shift=True)
    yield 0.2
    assert len(tube.data.araplbs.edits) == 1
    yield from settle()

    ui.key("RET")
    yield from over()
    tube, rig = bpy.data.objects["Tube"], bpy.data.objects["Rig"]
    scenes.assert_good(tube, rig)
    assert len(tube.data.araplbs.edits) == 1, "edits are kept with the mesh"
    kept = scenes.snapshot()
    ui.key("Z", ctrl=True)
    yield 0.5
    assert scenes.snapshot() == before, "one undo step"
    assert not bpy.data.objects["Tube"].data.araplbs.edits
    ui.key("Z", ctrl=True, shift=True)
    yield 0.5
    assert scenes.snapshot() == kept and len(bpy.data.objects["Tube"].data.araplbs.edits) == 1


def test_brushes_without_a_session(ui):
    """Each stroke is an undo step; Ctrl and Shift, the mirror, links."""
    newest_only()
    tube, _rig = make_tube()
    tube.data.use_mirror_x = True
    yield from paint_mode(ui, tube, "araplbs.influence")
    before = scenes.snapshot()
    yield from stroke(ui, (0.47, 0.6), (0.47, 0.6), ctrl=True)
    (item,) = tube.data.araplbs.edits
    values = scenes.addon("blender.edits").read_values(tube.data, item)
    x = np.array([v.co.x for v in tube.data.vertices])
    assert item.kind == "INFLUENCE" and set(values) == {0, -1}
    assert (values[x > 0.05] < 0).sum() == (values[x < -0.05] < 0).sum() > 0
    yield from stroke(ui, (0.4, 0.6), (0.6, 0.6), shift=True)
    ui.picture("influence-brush")
    yield from stroke(ui, (0.3, 0.75), (0.7, 0.75))
    values = scenes.addon("blender.edits").read_values(tube.data, tube.data.araplbs.edits[0])
    assert (values > 0).any()
    for _ in range(3):
        ui.key("Z", ctrl=True)
        yield 0.5
    assert not bpy.data.objects["Tube"].data.araplbs.edits
    assert scenes.snapshot() == before
    with ui.override():
        bpy.ops.wm.tool_set_by_id(name="araplbs.link")
    yield from stroke(ui, (0.5, 0.3), (0.5, 0.7))
    (item,) = bpy.data.objects["Tube"].data.araplbs.edits
    assert item.kind == "LINK"
    ui.picture("link")


def test_brush_keys(ui):
    """F and Shift F, as for Blender's brushes, also while a session is running."""
    tube, _rig = make_tube()
    yield from paint_mode(ui, tube)
    brush = bpy.context.scene.araplbs_brush
    brush.radius, brush.strength = 50, 0.5
    begin(ui)
    yield from settle()
    area = ui.area()
    x, y = area.x + area.width // 2, area.y + area.height // 2
    for shift in (False, True):
        ui.event("MOUSEMOVE", "NOTHING", at=(x, y))
        yield 0.2
        ui.event("F", "PRESS", shift=shift)
        ui.event("F", "RELEASE", shift=shift)
        yield 0.3
        for step in (20, 40, 60):
            ui.event("MOUSEMOVE", "NOTHING", at=(x + step, y))
            yield 0.1
        ui.event("LEFTMOUSE", "PRESS", at=(x + 60, y))
        ui.event("LEFTMOUSE", "RELEASE", at=(x + 60, y))
        yield 0.3
    assert brush.radius not in {50, 0} and brush.strength != 0.5
    assert session() and not tube.data.araplbs.edits
    ui.key("ESC")
    yield from over()


def test_blender_brush_waits_during_a_session(ui):
    tube, _rig = make_tube()
    yield from paint_mode(ui, tube, "builtin.gradient")
    begin(ui)
    yield from settle()
    before = scenes.entries(tube)
    yield from stroke(ui, (0.4, 0.5), (0.6, 0.5))
    assert session() and scenes.entries(tube) == before
    ui.key("ESC")
    yield from over()


def test_release(ui):
    tube, _rig = make_tube()
    yield from paint_mode(ui, tube, "araplbs.release")
    bpy.context.scene.araplbs_brush.radius = 300
    tube.vertex_groups.active = tube.vertex_groups["middle"]
    begin(ui)
    yield from settle()
    yield 0.5
    ui.picture("ties")
    tied_vertices = scenes.addon("operators.brush").tied_vertices
    vertices, _held, released = tied_vertices(session(), tube)
    assert len(vertices) and not released.any()
    yield from stroke(ui, (0.5, 0.5), (0.5, 0.5))
    assert [(item.kind, item.bone) for item in tube.data.araplbs.edits] == [("RELEASE", "middle")]
    yield from settle()
    assert tied_vertices(session(), tube)[2].any()
    ui.key("ESC")
    yield from over()
    assert not tube.data.araplbs.edits


def test_smooth_weights(ui):
    """On both sides of the mirror; Ctrl takes it back."""
    tube, _rig = make_tube()
    tube.data.use_mirror_x = True
    yield from paint_mode(ui, tube, "araplbs.smooth")
    brush = bpy.context.scene.araplbs_brush
    brush.radius, brush.strength = 60, 0.8
    begin(ui)
    yield from settle()
    before = scenes.entries(tube)
    yield from stroke(ui, (0.47, 0.45), (0.47, 0.55))
    (item,) = tube.data.araplbs.edits
    assert (item.kind, item.bone) == ("SMOOTH", "")
    values = scenes.addon("blender.edits").read_values(tube.data, item)
    x = np.array([v.co.x for v in tube.data.vertices])
    left, right = values[x < -0.05], values[x > 0.05]
    assert (left > 0).sum() == (right > 0).sum() > 5
    np.testing.assert_allclose(np.sort(left), np.sort(right), atol=1e-6)
    assert values.max() <= 0.8 + 1e-6 and len(set(values.round(3))) > 3, "it has a falloff"
    yield from settle()
    assert scenes.entries(tube) != before
    yield 0.5
    ui.picture("smooth")
    yield from stroke(ui, (0.3, 0.5), (0.7, 0.5), ctrl=True)
    left = sum(
        len(scenes.addon("blender.edits").edited_vertices(tube.data, item))
        for item in tube.data.araplbs.edits
    )
    assert left < (values > 0).sum()
    ui.key("ESC")
    yield from over()
    assert not tube.data.araplbs.edits


def test_strokes_on_both_sides(ui):
    """Of bones of two sides, of bones whose names have none, and of links."""
    tube, rig = make_tube()
    scenes.select(rig)
    with ui.override():
        bpy.ops.object.mode_set(mode="EDIT")
        for name, x in (("one", -1), ("other", 1)):
            bone = rig.data.edit_bones.new(name)
            bone.head, bone.tail = (0.1 * x, 0, 1), (x, 0, 1)
        bpy.ops.object.mode_set(mode="OBJECT")
    scenes.auto_weight(tube, rig)
    tube.data.use_mirror_x = True
    yield from paint_mode(ui, tube, "araplbs.release")
    tube.vertex_groups.active = tube.vertex_groups["one"]
    brush = bpy.context.scene.araplbs_brush
    brush.radius = 40
    with ui.override():
        bpy.ops.wm.tool_set_by_id(name="araplbs.influence")
    yield from stroke(ui, (0.46, 0.5), (0.46, 0.5))
    edits = scenes.addon("blender.edits")
    assert [(i.kind, i.bone) for i in tube.data.araplbs.edits] == [
        ("INFLUENCE", "one"),
        ("INFLUENCE", "other"),
    ]
    x = np.array([v.co.x for v in tube.data.vertices])
    own, image = (edits.edited_vertices(tube.data, item) for item in tube.data.araplbs.edits)
    assert len(own) == len(image) > 3
    np.testing.assert_allclose(np.sort(x[own]), np.sort(-x[image]), atol=1e-6)
    with ui.override():
        bpy.ops.wm.tool_set_by_id(name="araplbs.link")
    yield from stroke(ui, (0.47, 0.4), (0.47, 0.6))
    links = [
        edits.edited_vertices(tube.data, item)
        for item in tube.data.araplbs.edits
        if item.kind == "LINK"
    ]
    assert len(links) == 2
    np.testing.assert_allclose(np.sort(x[links[0]]), np.sort(-x[links[1]]), atol=1e-6)


def test_release_on_both_sides(ui):
    tube, _rig = make_tube()
    tube.data.use_mirror_x = True
    yield from paint_mode(ui, tube, "araplbs.release")
    bpy.context.scene.araplbs_brush.radius = 40
    tube.vertex_groups.active = tube.vertex_groups["middle"]
    begin(ui)
    yield from settle()
    yield from stroke(ui, (0.47, 0.45), (0.47, 0.55))
    (item,) = tube.data.araplbs.edits
    vertices = scenes.addon("blender.edits").edited_vertices(tube.data, item)
    x = np.array([v.co.x for v in tube.data.vertices])[vertices]
    assert (item.kind, item.bone) == ("RELEASE", "middle")
    assert (x < -0.05).sum() == (x > 0.05).sum() > 0
    ui.key("ESC")
    yield from over()


def test_keeps_on_while_posing(ui):
    """In Pose mode: the armature is posed meanwhile, and that is undone by itself."""
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
    yield 0.3
    ui.picture("refine-posed")
    ui.key("Z", ctrl=True)
    yield 0.5
    tube, rig = bpy.data.objects["Tube"], bpy.data.objects["Rig"]
    assert rig.pose.bones["upper"].rotation_euler.x == 0
    if session():
        ui.key("ESC")
    yield from over()
    assert scenes.entries(tube) == before
    ui.key("Z", ctrl=True, shift=True)  # to the pose, in the middle of the session
    yield 0.5
    tube, rig = bpy.data.objects["Tube"], bpy.data.objects["Rig"]
    assert rig.pose.bones["upper"].rotation_euler.x == 1
    assert scenes.entries(tube) == before, "and not to half converged weights"


def test_undo_from_the_menu_leaves_the_session(ui):
    """To other weights than those that the session began with, and nothing is written into them."""
    tube, _rig = make_tube()
    first = scenes.entries(tube)
    tube.vertex_groups["lower"].add(range(300), 0.7, "REPLACE")
    bpy.ops.ed.undo_push(message="paint")
    painted = scenes.entries(tube)
    begin(ui)
    yield from settle()
    with ui.override():
        bpy.ops.ed.undo()
    yield from over()
    assert scenes.entries(bpy.data.objects["Tube"]) == first
    with ui.override():
        bpy.ops.ed.redo()
    yield 0.3
    assert scenes.entries(bpy.data.objects["Tube"]) == painted


def test_auto_weight_waits_during_a_session(ui):
    make_tube()
    begin(ui)
    yield from settle()
    with ui.override():
        assert not bpy.ops.object.araplbs_auto_weight.poll()
        assert not bpy.ops.object.araplbs_refine_weights.poll()
        assert bpy.ops.object.araplbs_accept() == {"FINISHED"}
    yield from over()
    with ui.override():
        assert bpy.ops.object.araplbs_auto_weight.poll()
        assert not bpy.ops.object.araplbs_accept.poll()


def test_another_file_in_the_middle(ui):
    make_tube()
    begin(ui)
    yield from wait_until(lambda: session() and session().written >= 0)
    live = session()
    bpy.ops.wm.read_homefile(use_factory_startup=True)
    yield 0.5
    assert session() is None and not live.worker.running and len(bpy.data.objects) == 3
    ui.key("A", alt=True)  # the window listens
    yield 0.3
    assert not bpy.context.selected_objects


def test_deleted_meanwhile(ui):
    for name in ("Tube", "Rig"):
        make_tube()
        begin(ui)
        yield from wait_until(lambda: session() and session().written >= 0)
        bpy.data.objects.remove(bpy.data.objects[name])
        ui.key("RET")
        yield from over()
        ui.key("ESC")  # closes a message
        yield 0.2


def test_edit_mode_meanwhile(ui):
    tube, _rig = make_tube()
    before = scenes.entries(tube)
    scenes.select(tube)
    begin(ui)
    yield from wait_until(lambda: session() and session().written >= 0)
    with ui.override():
        bpy.ops.object.mode_set(mode="EDIT")
    yield 0.5
    ui.key("ESC")
    yield 0.3
    assert session(), "waits in Edit mode"
    with ui.override():
        bpy.ops.object.mode_set(mode="OBJECT")
    yield from settle()
    ui.key("ESC")
    yield from over()
    assert scenes.entries(tube) == before


def test_window_closed_meanwhile(ui):
    """The window that the session was started in."""
    tube, _rig = make_tube()
    before = scenes.entries(tube)
    with ui.override():
        bpy.ops.wm.window_new()
    yield 0.5
    window = bpy.context.window_manager.windows[-1]
    assert window != ui.window
    area = next(a for a in window.screen.areas if a.type == "VIEW_3D")
    region = next(r for r in area.regions if r.type == "WINDOW")
    with bpy.context.temp_override(window=window, area=area, region=region):
        bpy.ops.object.araplbs_refine_weights("INVOKE_DEFAULT")
    yield from wait_until(lambda: session() and session().written >= 0)
    with bpy.context.temp_override(window=window):
        bpy.ops.wm.window_close()
    yield 0.5
    assert session() is None and scenes.entries(bpy.data.objects["Tube"]) == before


def test_disabled_meanwhile(ui):
    tube, _rig = make_tube()
    before = scenes.entries(tube)
    begin(ui)
    yield from wait_until(lambda: session() and session().written >= 0)
    bpy.ops.preferences.addon_disable(module=scenes.MODULE)
    yield 0.5
    assert scenes.entries(bpy.data.objects["Tube"]) == before
    bpy.ops.preferences.addon_enable(module=scenes.MODULE)
    yield 0.5
    make_tube()
    begin(ui)
    yield from settle()
    ui.key("ESC")
    yield from over()


def test_saved_and_loaded(ui):
    """Edits come back with the file."""
    tube, _rig = make_tube()
    scenes.addon("operators.edit").paint_edit(tube.data, "WEIGHT", "upper", range(40, 60), 1.5)
    scenes.addon("blender.edits").add_link(tube.data, 3, 700)
    path = str(ui.pictures / "edits.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_factory_startup=True)
    yield 0.3
    bpy.ops.wm.open_mainfile(filepath=path)
    yield 0.5
    mesh = bpy.data.objects["Tube"].data
    edits = scenes.addon("blender.edits").read_edits(mesh, ["lower", "middle", "upper"])
    assert edits.constraints.vertices.tolist() == list(range(40, 60))
    assert set(edits.constraints.values) == {0.5} and edits.links.tolist() == [[3, 700]]


def test_buttons_and_panels(ui):
    tube, _rig = make_tube()
    yield from paint_mode(ui, tube)
    yield from open_sidebar(ui)
    begin(ui)
    yield from settle()
    yield from stroke(ui, (0.4, 0.3), (0.5, 0.3))
    yield from settle()
    # Edits and Deformation Error: opened from below, so that neither moves.
    for below in (393, 367):
        yield from click(ui, inside(ui, "UI", (60, below)))
        yield 0.5
    bpy.context.window_manager.araplbs_errors = "POSES"
    view = scenes.addon("ui.error_view").view
    for _ in range(40):
        yield 0.5
        if view.strain is not None:
            break
    yield 0.5
    ui.picture("refine-panel")
    strain = view.strain
    assert strain is not None and len(strain) == len(tube.data.vertices)
    bpy.context.window_manager.araplbs_errors = "NONE"
    yield 0.5
    ui.key("ESC")
    yield from over()


def test_character(ui):
    """The demo's, posed, to be looked at: live, steered, and where it deforms worst."""
    newest_only()
    when_named()
    import character

    for ob in list(bpy.data.objects):
        bpy.data.objects.remove(ob)
    rig, meshes = character.make_character()
    body = max(meshes, key=lambda ob: len(ob.data.vertices))
    for ob in meshes:
        scenes.bind(ob, rig)
    character.apply_pose(rig)
    scenes.auto_weight(*meshes, rig)
    scenes.select(body)
    show(ui)
    with ui.override():
        bpy.ops.view3d.view_orbit(angle=0.4, type="ORBITLEFT")
        bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
        bpy.ops.wm.tool_set_by_id(name="araplbs.weight")
    body.vertex_groups.active_index = body.vertex_groups["upper_arm.L"].index
    bpy.ops.ed.undo_push(message="painting")
    yield 0.5
    begin(ui)
    yield from settle()
    bpy.context.scene.araplbs_brush.radius = 25
    area, bone = ui.area(), rig.pose.bones["upper_arm.L"]
    with ui.override():
        x, y = location_3d_to_region_2d(
            bpy.context.region, bpy.context.region_data, rig.matrix_world @ bone.center
        )
        x, y = (x + bpy.context.region.x - area.x), (y + bpy.context.region.y - area.y)
    at = x / area.width, y / area.height
    yield from stroke(ui, at, (at[0] + 0.01, at[1] - 0.02))
    assert len(body.data.araplbs.edits) == 1
    yield from settle()
    yield 1.0
    ui.picture("character-live")
    ui.key("ESC")
    yield from over()
    with ui.override():
        bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.window_manager.araplbs_errors = "POSE"
    yield 3.0
    ui.picture("character-error")
    bpy.context.window_manager.araplbs_errors = "NONE"
    yield 0.5


def test_stalls(ui):
    """What a session costs the window on some 50,000 vertices: stalls.json, which
    tests/bench/stalls.py makes a page of."""
    newest_only()
    when_named()
    tube, rig = make_tube(rings=500, sides=100, weigh=False)
    scenes.select(tube, rig)
    show(ui)
    kind, beats, ticks = scenes.addon("live.weights").WeightSession, [], []
    plain = kind.tick

    def tick(self, seconds):
        start = time.perf_counter()
        plain(self, seconds)
        ticks.append((start, time.perf_counter() - start, self.state, self.written))

    def beat():
        beats.append(time.perf_counter())
        return 0.0

    bpy.app.timers.register(beat)
    area = ui.area()
    for _ in range(60):  # what it costs to evaluate and draw this mesh at all
        area.tag_redraw()
        tube.data.update_tag()
        yield 0.02
    idle = list(beats)
    beats.clear()
    kind.tick = tick
    try:
        begin(ui)
        yield from wait_until(lambda: session() and session().settled, 150)
        solved = session().frame.seconds
        ui.key("RET")
        yield from over()
    finally:
        kind.tick = plain
        bpy.app.timers.unregister(beat)
    result = {
        "blender": bpy.app.version_string,
        "vertices": len(tube.data.vertices),
        "solved": solved,
        "idle": idle,
        "beats": beats,
        "ticks": ticks,
    }
    (ui.pictures / "stalls.json").write_text(json.dumps(result))
    scenes.assert_good(bpy.data.objects["Tube"], bpy.data.objects["Rig"])
