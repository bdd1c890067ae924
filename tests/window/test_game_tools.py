"""Reduce Bones opens a dialog. Weights are named under the mouse. Export for Games opens the file
browser. The pictures are for visual inspection."""

import bpy
import scenes
from driver import (
    at_work,
    newest_only,
    open_sidebar,
    show,
    still,
    wait_for_end,
    wait_until,
)
from test_first_sight import make_character, weigh


def deform(rig):
    return sum(bone.use_deform for bone in rig.data.bones)


def test_games_reduce_bones_asks(ui):
    """The bones are chosen over several turns, then the dialog names them; Enter reduces, and Esc
    does not."""
    newest_only()
    rig, meshes = make_character()
    body = max(meshes, key=lambda ob: len(ob.data.vertices))
    scenes.auto_weight(body, rig)
    scenes.select(body, rig)
    show(ui)
    bpy.ops.ed.undo_push(message="set-up")
    every = deform(rig)
    for key in ("ESC", "RET"):
        ui.event("MOUSEMOVE", "NOTHING")
        yield 3
        with ui.override():
            assert bpy.ops.object.araplbs_reduce_bones_find("INVOKE_DEFAULT") == {"RUNNING_MODAL"}
        yield from wait_for_end()
        yield from still(ui)
        assert deform(rig) == every, "nothing has changed when it asks"
        ui.picture("reduce-dialog")
        ui.event(key, "PRESS")
        ui.event(key, "RELEASE")
        yield 10
        yield from wait_until(lambda: not at_work())
        rig = bpy.data.objects["Rig"]
        if key == "ESC":
            assert deform(rig) == every
    assert deform(rig) in (29, 30), "a mirrored pair goes together"


def test_games_weights_under_the_mouse(ui):
    newest_only()
    rig, meshes = make_character()
    body = max(meshes, key=lambda ob: len(ob.data.vertices))
    scenes.select(*meshes, rig)
    show(ui)
    bpy.ops.ed.undo_push(message="set-up")
    yield from open_sidebar(ui)
    yield from weigh(ui)
    scenes.select(body)
    with ui.override():
        bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
        bpy.ops.wm.tool_set_by_id(name="builtin.gradient")
    yield from still(ui)
    under = scenes.addon("features.edits.hover").under
    area = ui.area()
    middle = area.x + area.width // 2
    for share in (0.3, 0.4, 0.45, 0.5, 0.55, 0.6):
        ui.event("MOUSEMOVE", "NOTHING", at=(middle, int(area.y + share * area.height)))
        yield 3
        if under and len(under[0].shares) > 1:
            break
    assert under and under[0].object == body.name, "the mouse is over the body"
    shares = under[0].shares
    assert abs(sum(share for _name, share in shares) - 1) < 0.05
    groups = body.data.vertices[under[0].vertex].groups
    names = {body.vertex_groups[g.group].name for g in groups if g.weight > 0.005}
    assert {name for name, _share in shares} == names & set(rig.data.bones.keys())
    yield from still(ui)
    ui.picture("hover-weights")
    ui.event("MOUSEMOVE", "NOTHING", at=(area.x + 100, area.y + 100))
    yield 5
    assert not under, "there is nothing beside the body"


def test_games_export_opens_the_file_browser(ui):
    """The file browser shows the engine of the preset, and the settings that it will change."""
    newest_only()
    rig, meshes = make_character()
    body = max(meshes, key=lambda ob: len(ob.data.vertices))
    scenes.auto_weight(body, rig)
    scenes.select(body, rig)
    show(ui)
    with ui.override():
        result = bpy.ops.object.araplbs_export_game("INVOKE_DEFAULT")
    assert result == {"RUNNING_MODAL"}
    yield 20

    def browsers():
        return [
            (window, area)
            for window in bpy.context.window_manager.windows
            for area in window.screen.areas
            if area.type == "FILE_BROWSER"
        ]

    yield from wait_until(browsers)
    window, area = browsers()[0]
    operator = area.spaces.active.active_operator
    assert operator and operator.filepath.endswith(".glb") and operator.engine == "WEB"
    yield 40
    ui.picture("export-browser")
    region = next(r for r in area.regions if r.type == "WINDOW")
    with bpy.context.temp_override(window=window, area=area, region=region):
        bpy.ops.file.cancel()
    yield 10
    assert not browsers()
