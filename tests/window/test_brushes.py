"""Tests the brushes during a live session and without one."""

import bpy
import numpy as np
import scenes
from driver import cancel, newest_only, over, session, stroke
from paint_scenes import begin, make_tube, paint_mode, settle


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
    pinned = scenes.addon("blender.data.edits").edited_vertices(tube.data, items[0])
    assert len(pinned) > 10
    yield from settle()
    yield 8
    ui.picture("refine-stroke")
    after = scenes.weights(tube, ["upper"])
    assert (after - first)[pinned].mean() > 0.3, "what was painted is pinned"
    assert session().frame.iterations > 0

    ui.key("Z", ctrl=True)
    yield 3
    assert not tube.data.araplbs.edits and session()
    yield from settle()
    back = scenes.weights(tube, ["upper"])
    assert np.abs(back - first).max() < 0.3
    ui.key("Z", ctrl=True, shift=True)
    yield 3
    assert len(tube.data.araplbs.edits) == 1
    yield from settle()

    ui.key("RET")
    yield from over()
    tube, rig = bpy.data.objects["Tube"], bpy.data.objects["Rig"]
    scenes.assert_good(tube, rig)
    assert len(tube.data.araplbs.edits) == 1, "edits are kept with the mesh"
    kept = scenes.snapshot()
    ui.key("Z", ctrl=True)
    yield 8
    assert scenes.snapshot() == before, "one undo step"
    assert not bpy.data.objects["Tube"].data.araplbs.edits
    ui.key("Z", ctrl=True, shift=True)
    yield 8
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
    values = scenes.addon("blender.data.edits").read_values(tube.data, item)
    x = np.array([v.co.x for v in tube.data.vertices])
    assert item.kind == "INFLUENCE" and set(values) == {0, -1}
    assert (values[x > 0.05] < 0).sum() == (values[x < -0.05] < 0).sum() > 0
    yield from stroke(ui, (0.4, 0.6), (0.6, 0.6), shift=True)
    ui.picture("influence-brush")
    yield from stroke(ui, (0.3, 0.75), (0.7, 0.75))
    values = scenes.addon("blender.data.edits").read_values(tube.data, tube.data.araplbs.edits[0])
    assert (values > 0).any()
    for _ in range(3):
        ui.key("Z", ctrl=True)
        yield 8
    assert not bpy.data.objects["Tube"].data.araplbs.edits
    assert scenes.snapshot() == before
    with ui.override():
        bpy.ops.wm.tool_set_by_id(name="araplbs.link")
    yield from stroke(ui, (0.5, 0.3), (0.5, 0.7))
    (item,) = bpy.data.objects["Tube"].data.araplbs.edits
    assert item.kind == "LINK"
    ui.picture("link")


def test_brush_keys(ui):
    """F and Shift F, as with Blender's brushes, also during a session."""
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
        yield 3
        ui.event("F", "PRESS", shift=shift)
        ui.event("F", "RELEASE", shift=shift)
        yield 5
        for step in (20, 40, 60):
            ui.event("MOUSEMOVE", "NOTHING", at=(x + step, y))
            yield 3
        ui.event("LEFTMOUSE", "PRESS", at=(x + 60, y))
        ui.event("LEFTMOUSE", "RELEASE", at=(x + 60, y))
        yield 5
    assert brush.radius not in {50, 0} and brush.strength != 0.5
    assert session() and not tube.data.araplbs.edits
    yield from cancel(ui)


def test_blender_brush_waits_during_a_session(ui):
    tube, _rig = make_tube()
    yield from paint_mode(ui, tube, "builtin.gradient")
    begin(ui)
    tools = bpy.context.workspace.tools
    assert tools.from_space_view3d_mode("PAINT_WEIGHT").idname == "araplbs.weight"
    with ui.override():
        bpy.ops.wm.tool_set_by_id(name="builtin.gradient")
    yield from settle()
    before = scenes.entries(tube)
    yield from stroke(ui, (0.4, 0.5), (0.6, 0.5))
    assert session() and scenes.entries(tube) == before
    yield from cancel(ui)


def test_smooth_weights(ui):
    """Weights become smooth on both sides of the mirror. Ctrl reverts the effect."""
    newest_only()
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
    values = scenes.addon("blender.data.edits").read_values(tube.data, item)
    x = np.array([v.co.x for v in tube.data.vertices])
    left, right = values[x < -0.05], values[x > 0.05]
    assert (left > 0).sum() == (right > 0).sum() > 5
    np.testing.assert_allclose(np.sort(left), np.sort(right), atol=1e-6)
    assert values.max() <= 0.8 + 1e-6 and len(set(values.round(3))) > 3, "it has a falloff"
    yield from settle()
    assert scenes.entries(tube) != before
    yield 8
    ui.picture("smooth")
    yield from stroke(ui, (0.3, 0.5), (0.7, 0.5), ctrl=True)
    left = sum(
        len(scenes.addon("blender.data.edits").edited_vertices(tube.data, item))
        for item in tube.data.araplbs.edits
    )
    assert left < (values > 0).sum()
    yield from cancel(ui)
    assert not tube.data.araplbs.edits


def drawn_points(ui):
    """Vertices of the active edit and its image, as drawn by the next redraw."""
    overlay, found = scenes.addon("panels.overlay"), []
    draw = overlay._draw_item
    overlay._draw_item = lambda _context, mesh, item, points: found.append(
        np.flatnonzero(scenes.addon("blender.data.edits").read_values(mesh, item))
    )
    try:
        ui.area().tag_redraw()
        yield 5
    finally:
        overlay._draw_item = draw
    return sorted({int(vertex) for each in found for vertex in each})


def test_strokes_on_both_sides(ui):
    """For bones with sides, bones whose names have none, and links."""
    newest_only()
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
    mirrored = scenes.addon("features.edits.brush").Stroke.mirrored
    seen = []
    watched = property(lambda made: seen.append(mirrored.fget(made)) or seen[-1])
    scenes.addon("features.edits.brush").Stroke.mirrored = watched
    try:
        yield from stroke(ui, (0.46, 0.5), (0.46, 0.5))
    finally:
        scenes.addon("features.edits.brush").Stroke.mirrored = mirrored
    places = np.array([v.co.x for v in tube.data.vertices])
    assert len(seen[-1]) > 3 and (places[seen[-1]] > 0).all(), "drawn while the stroke is made"
    edits = scenes.addon("blender.data.edits")
    assert [(i.kind, i.bone) for i in tube.data.araplbs.edits] == [
        ("INFLUENCE", "one"),
        ("INFLUENCE", "other"),
    ]
    x = np.array([v.co.x for v in tube.data.vertices])
    own, image = (edits.edited_vertices(tube.data, item) for item in tube.data.araplbs.edits)
    assert len(own) == len(image) > 3
    np.testing.assert_allclose(np.sort(x[own]), np.sort(-x[image]), atol=1e-6)
    shown = tube.data.araplbs.edits[tube.data.araplbs.active]
    assert shown.bone == "one", "what is drawn is of the side that was painted"
    image_of = scenes.addon("features.edits.brush").image_of
    assert image_of(tube, shown).bone == "other" and image_of(tube, image_of(tube, shown)) == shown
    drawn = yield from drawn_points(ui)
    assert drawn == sorted([*own, *image]), "both sides"
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
    newest_only()
    tube, _rig = make_tube()
    tube.data.use_mirror_x = True
    yield from paint_mode(ui, tube, "araplbs.release")
    bpy.context.scene.araplbs_brush.radius = 40
    tube.vertex_groups.active = tube.vertex_groups["middle"]
    begin(ui)
    yield from settle()
    yield from stroke(ui, (0.47, 0.45), (0.47, 0.55))
    (item,) = tube.data.araplbs.edits
    vertices = scenes.addon("blender.data.edits").edited_vertices(tube.data, item)
    x = np.array([v.co.x for v in tube.data.vertices])[vertices]
    assert (item.kind, item.bone) == ("RELEASE", "middle")
    assert (x < -0.05).sum() == (x > 0.05).sum() > 0
    yield from cancel(ui)
