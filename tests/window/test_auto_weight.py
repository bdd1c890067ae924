"""Tests the operator as a user sees it: button, progress, Esc, undo, redo panel, pictures."""

import bpy
import scenes
from driver import (
    Draws,
    at_work,
    clear,
    click,
    held,
    inside,
    once,
    open_sidebar,
    reset_settings,
    settings,
    slow_reading,
    solving,
    still,
    wait_for_end,
    wait_until,
)
from patience import last_resort

# Where things are in the sidebar and in "Adjust Last Operation": pixels from their upper left.
BUTTON = (110, 76)
# Closed sub-panels, the lower one first.
SUB_PANELS = ((243, "VIEW3D_PT_araplbs_poses"), (217, "VIEW3D_PT_araplbs_bones"))
REDO_HEADER = (60, 15)
REDO_MAX_INFLUENCES = (230, 67)


def make_tube(rings=19, sides=10):
    clear()
    tube, rig = scenes.tube_and_rig()
    if rings != 19:
        bpy.data.objects.remove(tube)
        tube = scenes.add_tube(rings=rings, sides=sides)
        scenes.bind(tube, rig)
    scenes.select(tube, rig)
    bpy.ops.ed.undo_push(message="set-up")
    return tube, rig


def test_button_undo_and_redo_panel(ui):
    reset_settings()
    make_tube()
    yield from open_sidebar(ui)
    settings().max_influences = 3
    before = scenes.snapshot()
    yield from click(ui, inside(ui, "UI", BUTTON))
    yield from wait_for_end()
    tube, rig = (bpy.data.objects[n] for n in ("Tube", "Rig"))
    scenes.assert_good(tube, rig, 3)
    operator = bpy.context.window_manager.operators[-1]
    assert operator.bl_idname == "OBJECT_OT_araplbs_auto_weight" and operator.max_influences == 3
    after = scenes.snapshot()

    # "Adjust Last Operation": another value takes back the first result and makes a new one.
    yield from click(ui, inside(ui, "HUD", REDO_HEADER))
    yield from still(ui)
    look = last_resort("the redo panel keeps its value")
    while bpy.context.window_manager.operators[-1].max_influences > 1:
        look()
        at = inside(ui, "HUD", REDO_MAX_INFLUENCES)
        ui.event("MOUSEMOVE", "NOTHING", at=at)
        yield 3
        ui.event("WHEELDOWNMOUSE", "PRESS", at=at, ctrl=True)  # lost while the panel is redrawn
        yield from still(ui)
    ui.picture("redo-panel")
    tube, rig = (bpy.data.objects[n] for n in ("Tube", "Rig"))
    scenes.assert_good(tube, rig, 1)

    ui.event("MOUSEMOVE", "NOTHING")
    yield 3
    ui.key("Z", ctrl=True)
    yield 8
    assert scenes.snapshot() == before, "one Ctrl-Z takes back all, and nothing else"
    ui.key("Z", ctrl=True, shift=True)
    yield 8
    assert scenes.snapshot() != before and scenes.snapshot() != after
    ui.key("Z", ctrl=True)
    yield 8
    assert scenes.snapshot() == before
    reset_settings()


def test_escape(ui):
    """Esc half-way restores everything at once and leaves nothing behind."""
    make_tube()
    bpy.context.view_layer.update()
    before = scenes.snapshot()
    operators = len(bpy.context.window_manager.operators)
    with held():
        with ui.override():
            bpy.ops.object.araplbs_auto_weight("INVOKE_DEFAULT")
        yield from wait_until(solving)
        yield 8
        ui.picture("progress")
        # Keys other than view navigation do nothing during the work: X would delete, A deselect.
        ui.key("A", alt=True)
        ui.key("X")
        yield 5
        assert bpy.context.selected_objects and solving()
        ui.key("ESC")
        yield 3
        assert not bpy.context.window_manager.windows[0].modal_operators, "over at once"
        yield from wait_for_end()
    assert scenes.snapshot() == before
    assert len(bpy.context.window_manager.operators) == operators, "no undo step"
    yield 5
    ui.picture("cancelled")
    ui.key("A", alt=True)  # the window reacts again
    yield 5
    assert not bpy.context.selected_objects


def test_another_file_meanwhile(ui):
    """Opening a file ends the operator and its thread."""
    once()
    make_tube()
    with held():
        with ui.override():
            bpy.ops.object.araplbs_auto_weight("INVOKE_DEFAULT")
        yield from wait_until(solving)
        bpy.ops.wm.read_homefile(use_factory_startup=True)
        yield 8
    assert not solving() and len(bpy.data.objects) == 3


def test_disabled_meanwhile(ui):
    """Disabling the add-on ends its operator and thread; after it is enabled again, it works."""
    make_tube()
    with held():
        with ui.override():
            bpy.ops.object.araplbs_auto_weight("INVOKE_DEFAULT")
        yield from wait_until(solving)
        bpy.ops.preferences.addon_disable(module=scenes.MODULE)
        yield from wait_until(lambda: not solving())
        yield 5
    bpy.ops.preferences.addon_enable(module=scenes.MODULE)
    assert not bpy.data.objects["Tube"].vertex_groups
    with ui.override():
        bpy.ops.object.araplbs_auto_weight("INVOKE_DEFAULT")
    yield from wait_for_end()
    scenes.assert_good(bpy.data.objects["Tube"], bpy.data.objects["Rig"])


MAIN_PANEL = "VIEW3D_PT_araplbs"


def test_panel_and_menus(ui):
    tube, _rig = make_tube()
    with Draws() as draws:
        yield from open_sidebar(ui)
        with ui.override():
            bpy.ops.view3d.view_selected()
        yield 5
        closed = draws.since()
        assert MAIN_PANEL in closed and "VIEW3D_PT_araplbs_poses" not in closed
        # Opens both sub-panels: Ctrl-click on one closes the others, so each by itself.
        for below, panel in SUB_PANELS:
            yield from click(ui, inside(ui, "UI", (60, below)))
            yield 8
            assert panel in draws.since(), f"{panel} does not open"
        ui.picture("panel")
        for menu in ("VIEW3D_MT_araplbs_presets", "VIEW3D_MT_object_parent"):
            with ui.override():
                bpy.ops.wm.call_menu(name=menu)
            yield 8
            ui.picture(menu)
            ui.key("ESC")
            yield 3
        assert "VIEW3D_MT_araplbs_presets" in draws.since()
        scenes.select(tube, active=tube)
        tube.parent = None
        tube.modifiers.clear()
        yield 8
        ui.picture("panel-no-armature")
        assert MAIN_PANEL in draws.since()
        with ui.override():
            assert not bpy.ops.object.araplbs_auto_weight.poll()
        # The button is gray: a click does nothing.
        before = scenes.snapshot()
        yield from click(ui, inside(ui, "UI", BUTTON))
        yield from wait_for_end()
        assert scenes.snapshot() == before


def test_control_bones_in_the_panel(ui):
    """One button includes a bone again, in one undo step."""
    clear()
    bones = [
        ("root", (0, 0, -1), (0.5, 0, -1), None),
        ("arm", (0, 0, 0.05), (0, 0, 2.95), "root"),
        ("pole", (0, 1.5, 1), (0, 2, 1), "root"),
    ]
    tube, rig = scenes.add_tube(), scenes.add_armature(bones=bones)
    reset_settings()
    scenes.auto_weight(tube, rig)
    bpy.context.window_manager.araplbs_control_bone = rig.data.bones.find("root")
    bpy.ops.ed.undo_push(message="set-up")
    yield from open_sidebar(ui)
    ui.event("MOUSEMOVE", "NOTHING", at=(250, 600))  # where it opens
    yield 3
    with ui.override():
        bpy.ops.wm.call_panel(name="VIEW3D_PT_araplbs_bones", keep_open=True)
    yield 8
    ui.picture("control-bones")
    ui.key("ESC")
    with ui.override():
        assert bpy.ops.object.araplbs_take_in("INVOKE_DEFAULT", True, bone="root") == {"FINISHED"}
    yield 8
    ui.picture("control-bones-taken-in")
    taken = [b.name for b in bpy.data.objects["Rig"].data.bones if b.araplbs_deforms]
    assert taken == ["root"], taken
    with ui.override():
        bpy.ops.ed.undo()
    yield 5
    assert not any(b.araplbs_deforms for b in bpy.data.objects["Rig"].data.bones)


def bendy_tube():
    tube, rig = make_tube()
    for bone in rig.data.bones:
        bone.bbone_segments = 32
    bpy.ops.ed.undo_push(message="set-up")
    return tube, rig


def counts():
    return len(bpy.data.objects), len(bpy.data.scenes), len(bpy.data.armatures)


def test_esc_while_random_poses_of_bendy_bones_are_read(ui):
    """The window has turns during the work. No temporary data exists between them, and nothing is
    left."""
    tube, _rig = bendy_tube()
    before, there = scenes.snapshot(), counts()
    with slow_reading():
        with ui.override():
            call = bpy.ops.object.araplbs_auto_weight
            assert call("INVOKE_DEFAULT", pose_count=5000) == {"RUNNING_MODAL"}
        for _ in range(5):
            yield 3
            assert counts() == there and at_work() and not solving()
        ui.picture("reading")
        ui.key("ESC")
        yield 8
        assert counts() == there and not at_work() and not solving()
    assert scenes.snapshot() == before and not tube.vertex_groups
    reset_settings()
