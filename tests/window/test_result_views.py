"""The views of the Result box: colors of stretch, worst poses, pictures of joints, the other
weights while a key is held. The tests open each view with its single click or key. The pictures are
for visual inspection."""

from contextlib import contextmanager

import bpy
import numpy as np
import scenes
from driver import click, inside, open_sidebar, show, still, wait_until
from test_first_sight import make_character, weigh

# From the top left of the sidebar, in a panel that has that row alone.
ROW_Y, POSE, EYE = 46, 24, 44


@contextmanager
def alone(part):
    """The first panel shows only this part of the Result box: part(layout, context, outcome)."""
    panel = scenes.addon("ui.panel")
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
    outcome, strip = at_hand(), scenes.addon("features.auto_weight.strip")
    yield from wait_until(lambda: outcome.seen is not None)
    yield from still(ui)
    ui.picture("result-strip")
    names = [each.bone for each in outcome.seen]
    assert len(names) == 4 and all(each.pictures[0] is not None for each in outcome.seen), names
    assert strip._made[-1][0] is outcome and all(all(both) for both in strip._made[-1][2])
    manager, view = bpy.context.window_manager, ui.area().spaces.active.region_3d
    with alone(scenes.addon("ui.result_box")._draw_sets):
        yield from still(ui)
        yield from click(ui, inside(ui, "UI", (EYE, ROW_Y)))
        assert manager.araplbs_errors == "POSES", "one click to the colors of stretch"
        colors = scenes.addon("window.error_view").view
        yield from wait_until(lambda: colors.result is not None)
        yield from still(ui)
        ui.picture("result-colors")
        yield from click(ui, inside(ui, "UI", (EYE, ROW_Y)))
        assert manager.araplbs_errors == "NONE"
        own, looked = posed(rig), view.view_location.copy()
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
        assert manager.araplbs_errors == "NONE"
        bpy.ops.object.araplbs_show_worst(index=1)
    yield from wait_until(lambda: colors.result is not None)
    yield from still(ui)
    ui.picture("worst-joint")
    with ui.override():
        bpy.ops.object.araplbs_own_pose()


def peek(ui, outcome, meshes):
    """Holding Y shows the earlier weights, and releasing it shows the new ones."""
    body = max(meshes, key=lambda ob: len(ob.data.vertices))
    after = scenes.entries(body)
    ui.event("MOUSEMOVE", "NOTHING")
    yield 3
    ui.event("Y", "PRESS")
    yield 5
    assert outcome.shown() == "BEFORE" and scenes.entries(body) != after
    yield from still(ui)
    ui.picture("worst-pose-before")
    ui.event("Y", "RELEASE")
    yield 5
    assert outcome.shown() == "AFTER" and scenes.entries(body) == after
