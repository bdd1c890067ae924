"""The panel Touch Up and the buttons of the Result box for motion, pictures and the wipe, pressed
with mouse and keys."""

import bpy
import numpy as np
import scenes
from driver import click, region, still, stroke, wait_for_end, wait_until
from paint_scenes import make_tube, paint_mode
from test_result_views import at_hand, posed, weighted_twice


def in_pose(ui, rig, *bones):
    scenes.select(rig)
    with ui.override():
        bpy.ops.object.mode_set(mode="POSE")
    for flag in scenes.addon("blender.data.bones").bone_flags(rig):
        flag.select = flag.name in bones
    rig.data.bones.active = rig.data.bones[bones[0]]
    bpy.ops.ed.undo_push(message="selected")


def middle(ui):
    area = ui.area()
    return area.x + area.width // 3, area.y + area.height // 2


def test_touch_up(ui):
    """Reach follows the mouse. Esc restores the weights, and a click keeps them."""
    rig, meshes = yield from weighted_twice(ui)
    body = max(meshes, key=lambda ob: len(ob.data.vertices))
    in_pose(ui, rig, "upper_arm.L")
    yield from still(ui)
    ui.picture("touch-up")
    before, at, name = scenes.entries(body), middle(ui), body.name
    for end in ("ESC", "LEFTMOUSE"):
        ui.event("MOUSEMOVE", "NOTHING", at=at)
        yield 3
        with ui.override():
            assert bpy.ops.object.araplbs_reach("INVOKE_DEFAULT") == {"RUNNING_MODAL"}
        ui.event("MOUSEMOVE", "NOTHING", at=(at[0] + 150, at[1]))
        yield 3
        assert scenes.entries(body) != before, "live"
        ui.event(end, "PRESS", at=(at[0] + 150, at[1]))
        ui.event(end, "RELEASE", at=(at[0] + 150, at[1]))
        yield 5
        assert (scenes.entries(body) == before) == (end == "ESC")
    yield from still(ui)
    ui.picture("reach")
    with ui.override():
        bpy.ops.ed.undo()
    yield 5
    assert scenes.entries(bpy.data.objects[name]) == before, "one undo step"


def test_mirror(ui):
    """One click for one painted side, and a question for both."""
    rig, meshes = yield from weighted_twice(ui)
    body = max(meshes, key=lambda ob: len(ob.data.vertices))
    images_of = scenes.package("character.mirror_images").images_of
    points = np.array([v.co for v in body.data.vertices])
    (_, other), *_rest = images_of(points, np.arange(len(points))[points[:, 0] > 0.3][:50])
    one = int(np.linalg.norm(points * (-1, 1, 1) - points[other], axis=1).argmin())
    scenes.select(body, rig)
    for vertex, bone in ((one, "head"), (int(other), "foot.R")):
        body.vertex_groups[bone].add([vertex], 1.0, "REPLACE")
        bpy.ops.ed.undo_push(message="painted")
        with ui.override():
            found = bpy.ops.object.araplbs_mirror_painted("INVOKE_DEFAULT")
        yield 5
        if vertex == one:
            assert found == {"FINISHED"}
            assert body.vertex_groups["head"].weight(int(other)) > 0.3
    assert found == {"INTERFACE"}
    yield from still(ui)
    ui.picture("mirror-question")
    ui.key("ESC")
    yield 5


def test_wipe(ui):
    """The line follows the mouse. Esc restores everything."""
    rig, meshes = yield from weighted_twice(ui)
    body = max(meshes, key=lambda ob: len(ob.data.vertices))
    before, weights = posed(rig), scenes.entries(body)
    at = middle(ui)
    ui.event("MOUSEMOVE", "NOTHING", at=at)
    yield 3
    with ui.override():
        assert bpy.ops.object.araplbs_wipe("INVOKE_DEFAULT") == {"RUNNING_MODAL"}
    for k, step in enumerate((0, 60, 120)):
        ui.event("MOUSEMOVE", "NOTHING", at=(at[0] + step, at[1]))
        yield from still(ui)
        ui.picture(f"wipe-{k}")
    ui.key("ESC")
    yield 5
    assert scenes.entries(body) == weights
    np.testing.assert_allclose(posed(rig), before, atol=1e-6)
    yield from still(ui)
    ui.picture("wipe-ended")


def test_pictures(ui):
    """Large pictures with names, and a PNG file of all."""
    yield from weighted_twice(ui)
    outcome = at_hand()
    yield from wait_until(lambda: outcome.seen is not None)
    ui.event("MOUSEMOVE", "NOTHING", at=middle(ui))
    yield 3
    with ui.override():
        bpy.ops.object.araplbs_show_pictures("INVOKE_DEFAULT")
    yield from still(ui)
    ui.picture("pictures")
    ui.key("ESC")
    yield 5
    path = ui.pictures / "sheet.png"
    path.unlink(missing_ok=True)
    with ui.override():
        assert bpy.ops.object.araplbs_save_pictures(filepath=str(path)) == {"FINISHED"}
    assert path.read_bytes().startswith(b"\x89PNG")
    ui.event("MOUSEMOVE", "NOTHING")
    yield from still(ui)
    ui.picture("box")
    ui.event("Y", "PRESS")
    yield from still(ui)
    ui.picture("box-held")
    ui.event("Y", "RELEASE")
    yield 5


def test_play(ui):
    rig, _meshes = yield from weighted_twice(ui)
    before, actions = posed(rig), len(bpy.data.actions)
    with ui.override():
        assert bpy.ops.object.araplbs_play_motion("INVOKE_DEFAULT") == {"RUNNING_MODAL"}
    yield from wait_until(lambda: np.abs(posed(rig) - before).max() > 0.3)
    ui.picture("play")
    for k in range(3):
        ui.key("RIGHT_ARROW")
        yield 30
        ui.picture(f"play-{k}")
    ui.key("ESC")
    yield 5
    np.testing.assert_allclose(posed(rig), before, atol=1e-6)
    assert len(bpy.data.actions) == actions


def test_one_limb(ui):
    """A click on the skin of a limb weights it."""
    rig, _meshes = yield from weighted_twice(ui)
    with ui.override():
        assert bpy.ops.object.araplbs_pick_limb("INVOKE_DEFAULT") == {"RUNNING_MODAL"}
    limb = scenes.addon("features.auto_weight.limb")
    r = region(ui, "WINDOW")
    found = {}
    for y in range(r.y + 20, r.y + r.height - 20, 25):
        for x in range(r.x + 100, r.x + r.width - 250, 25):
            with ui.override():
                bone = limb.bone_under(bpy.context, rig, (x, y))
            if bone:
                found.setdefault(bone, (x, y))
    bone, at = next((b, at) for b, at in found.items() if "arm" in b.lower())
    ui.event("MOUSEMOVE", "NOTHING", at=at)
    yield 5
    ui.picture("limb-hover")
    before = at_hand()
    ui.event("LEFTMOUSE", "PRESS", at=at)
    ui.event("LEFTMOUSE", "RELEASE", at=at)
    yield 5
    yield from wait_for_end()
    yield from still(ui)
    ui.picture("limb-done")
    outcome = at_hand()
    assert outcome is not before and outcome.chosen[0] == len(limb.limb_of(rig, bone))
    with ui.override():
        bpy.ops.wm.tool_set_by_id(name="araplbs.limb")
    yield 5
    arm = limb.limb_of(rig, bone)
    for name in (bone, next(each for each in found if each not in arm)):  # one click each
        before = at_hand()
        yield from click(ui, found[name])
        yield from wait_for_end()
        yield from still(ui)
        assert at_hand() is not before
        assert at_hand().chosen[0] == len(limb.limb_of(rig, name))


def test_smooth_without_a_session(ui):
    """A stroke of Smooth Weights changes the weights below it at once, as one undo step."""
    tube, _rig = make_tube()
    yield from paint_mode(ui, tube, "araplbs.smooth")
    before = scenes.weights(tube, ["middle"])[:, 0]
    ui.picture("smooth-before")
    yield from stroke(ui, (0.4, 0.25), (0.6, 0.25))
    yield from wait_for_end()
    ui.picture("smooth-after")
    after = scenes.weights(tube, ["middle"])[:, 0]
    item = tube.data.araplbs.edits[0]
    touched = scenes.addon("blender.data.edits").read_values(tube.data, item) > 0
    assert np.abs(after - before)[touched].max() > 0.1
    assert (after == before)[~touched].all()
    ui.key("Z", ctrl=True)
    yield 8
    tube = bpy.data.objects["Tube"]
    assert (scenes.weights(tube, ["middle"])[:, 0] == before).all() and not tube.data.araplbs.edits
