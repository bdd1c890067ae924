"""The views of the Result box: colors of stretch, worst poses, pictures of joints, the other
weights while a key is held. The tests open each view with its single click or key. The pictures are
for visual inspection."""

import contextlib
from contextlib import contextmanager

import bpy
import driver
import numpy as np
import scenes
from bpy_extras import view3d_utils
from driver import click, inside, open_sidebar, show, still, wait_until
from test_first_sight import make_character, weigh

# From the top left of the sidebar, in a panel that has that row alone.
ROW_Y, POSE, EYE = 46, 24, 44


@contextmanager
def alone(part):
    """The first panel shows only this part of the Result box: part(layout, context, outcome)."""
    panel = scenes.addon("panels.main_panel")
    kind = panel.VIEW3D_PT_araplbs
    before = kind.draw

    def draw(self, context):
        if outcome := panel.outcome_at_hand(context):
            part(self.layout, context, outcome)

    kind.draw = draw
    try:
        yield
    finally:
        kind.draw = before


def weighted_twice(ui):
    """The character of the demo, with earlier weights, new weights, and remaining problems."""
    rig, meshes = make_character()
    scenes.select(*meshes, rig)
    with ui.override():
        bpy.ops.object.parent_set(type="ARMATURE_AUTO")
    show(ui)
    bpy.ops.ed.undo_push(message="set-up")
    yield from open_sidebar(ui)
    yield from weigh(ui)
    return rig, meshes


def at_hand():
    return scenes.addon("features.auto_weight.outcome").outcome_at_hand(bpy.context)


def posed(rig):
    bpy.context.view_layer.update()
    return np.array([bone.matrix for bone in rig.pose.bones])


def test_result_box_shows_it(ui):
    rig, meshes = yield from weighted_twice(ui)
    outcome = at_hand()
    yield from wait_until(lambda: outcome.seen is not None)
    yield from still(ui)
    ui.picture("result-strip")
    names = [each.bone for each in outcome.seen]
    assert len(names) == 4 and all(each.pictures[0] is not None for each in outcome.seen), names
    assert all(all(both) for both in outcome.icons)
    manager, view = bpy.context.window_manager, ui.area().spaces.active.region_3d
    with alone(scenes.addon("panels.result_box")._draw_sets):
        yield from still(ui)
        yield from click(ui, inside(ui, "UI", (EYE, ROW_Y)))
        assert manager.araplbs_errors == "POSES", "one click to the colors of stretch"
        colors = scenes.addon("operators.error_view").view
        yield from wait_until(lambda: colors.result is not None)
        yield from still(ui)
        ui.picture("result-colors")
        yield from click(ui, inside(ui, "UI", (EYE, ROW_Y)))
        assert manager.araplbs_errors == "NONE"
        own, looked, seen = posed(rig), view.view_location.copy(), view_now(ui)
        yield from click(ui, inside(ui, "UI", (POSE, ROW_Y)))
        assert np.abs(posed(rig) - own).max() > 0.05, "one click to a pose of the worst finding"
        assert (view.view_location - looked).length > 0.05, "with the view"
        assert manager.araplbs_errors == "POSE", "and colors"
        yield from wait_until(lambda: colors.result is not None)
        yield from still(ui)
        ui.picture("worst-pose")
    yield from peek(ui, outcome, meshes)
    with ui.override():
        bpy.ops.object.araplbs_own_pose()
        np.testing.assert_allclose(posed(rig), own, atol=1e-6)
    yield 3
    assert view_now(ui) == seen
    with ui.override():
        bpy.ops.object.araplbs_show_worst(index=1)
    yield from wait_until(lambda: colors.result is not None)
    yield from still(ui)
    ui.picture("worst-joint")
    with ui.override():
        bpy.ops.object.araplbs_own_pose()


def view_now(ui):
    """What the artist sees: the view, the frame, the selection, the colors and the marks."""
    space, manager = ui.area().spaces.active, bpy.context.window_manager
    view, check = space.region_3d, manager.araplbs_check
    return (
        [np.round(row, 5).tolist() for row in view.view_matrix],
        *(round(view.view_distance, 5), view.view_perspective, view.is_orthographic_side_view),
        *(space.clip_start, space.clip_end, bpy.context.scene.frame_current),
        *(sorted(ob.name for ob in bpy.context.selected_objects), bpy.context.mode),
        *(bpy.context.active_object.name, manager.araplbs_errors, check.active, check.show),
    )


def seen_share(ui, ob):
    """The share of the vertices of a mesh, as posed, that lie inside the 3D view."""
    posed_vertices = scenes.addon("blender.poses.posed").posed_vertices
    points = posed_vertices(ob, bpy.context.evaluated_depsgraph_get())
    region, view = driver.region(ui, "WINDOW"), ui.area().spaces.active.region_3d
    flat = [view3d_utils.location_3d_to_region_2d(region, view, p) for p in points[::7].tolist()]
    inside = [p and 0 <= p.x < region.width and 0 <= p.y < region.height for p in flat]
    return sum(map(bool, inside)) / len(inside)


def test_back_to_my_pose_gives_back_the_view(ui):
    """After the worst pose and each picture, from any view, everything is as it was, and in
    between the view is never empty."""
    rig, meshes = yield from weighted_twice(ui)
    outcome = at_hand()
    yield from wait_until(lambda: outcome.seen is not None)
    view = ui.area().spaces.active.region_3d
    body = max(meshes, key=lambda ob: len(ob.data.vertices))
    bpy.context.scene.camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    bpy.context.scene.collection.objects.link(bpy.context.scene.camera)
    bpy.context.scene.frame_set(17)
    for name in ("front", "persp", "camera"):
        with ui.override():
            if name == "front":
                bpy.ops.view3d.view_axis(type="FRONT")
            else:
                view.view_perspective = name.upper()
        yield from still(ui)
        before, own = view_now(ui), posed(rig)
        for index in range(-1, len(outcome.seen)):
            with ui.override():
                bpy.ops.object.araplbs_show_worst(index=index)
            yield 4
            assert seen_share(ui, body) > 0.02, f"picture {index}: an empty view"
            bpy.context.scene.frame_set(20)
            if index == 1:
                ui.picture(f"posed-{name}")
                continue  # another pose follows without a way back
            with ui.override():
                bpy.ops.object.araplbs_own_pose()
            yield 4
            assert view_now(ui) == before, f"picture {index}, {name}"
            np.testing.assert_allclose(posed(rig), own, atol=1e-6)
        yield from still(ui)
        ui.picture(f"back-{name}")
    body.hide_set(True)
    with ui.override(), contextlib.suppress(RuntimeError):  # which says that it is hidden
        bpy.ops.object.araplbs_show_worst(index=0)
    assert np.abs(posed(rig) - own).max() < 1e-6, "nothing is posed out of sight"


def peek(ui, outcome, meshes):
    """Holding Y shows the earlier weights, and releasing it shows the new ones."""
    body = max(meshes, key=lambda ob: len(ob.data.vertices))
    after = scenes.entries(body)
    for at in (None, inside(ui, "UI", (40, 300))):  # the box, which names the key, too
        ui.event("MOUSEMOVE", "NOTHING", at=at)
        yield 3
        ui.event("Y", "PRESS", at=at)
        yield 5
        assert outcome.shown() == "BEFORE" and scenes.entries(body) != after
        yield from still(ui)
        ui.picture("worst-pose-before")
        ui.event("Y", "RELEASE", at=at)
        yield 5
        assert outcome.shown() == "AFTER" and scenes.entries(body) == after
