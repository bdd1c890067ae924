"""The conversion of bendy bones in a window: Esc during the work, the end, and undo."""

import bpy
import scenes
from driver import clear, newest_only, once, still, wait_until


def bendy_tube():
    clear()
    tube, rig = scenes.tube_and_rig()
    for i, bone in enumerate(rig.data.bones):
        bone.bbone_segments = 4
        rig.pose.bones[i].rotation_quaternion = (0.95, 0.3, 0.1, 0)
        tube.vertex_groups.new(name=bone.name).add(range(60 * i, 60 * i + 90), 0.5, "REPLACE")
    scenes.select(rig)
    return tube, rig


def slow(ui, mode, entries=4096):
    """Starts the operator with a turn of the window after every step, each of which writes this
    many entries, and returns the former state. With one entry per step, hundreds of turns remain,
    however soon the window is drawn."""
    module = scenes.addon("features.bendy.operator")
    module.PATIENCE = module.TURN = 0
    scenes.addon("features.bendy.parameters").VERTICES_A_STEP = entries
    with ui.override():
        bpy.ops.object.mode_set(mode=mode)
        bpy.ops.ed.undo_push(message="set-up")
        before = scenes.snapshot()
        run = bpy.ops.object.araplbs_bendy
        assert run("INVOKE_DEFAULT", True, only_selected=False) == {"RUNNING_MODAL"}
    return before


def bones():
    return bpy.data.objects["Rig"].data.bones


def running(ui):
    return any(o.bl_idname == "OBJECT_OT_araplbs_bendy" for o in ui.window.modal_operators)


def wait_for_end(ui):
    yield from wait_until(lambda: not running(ui))
    yield 8


def cancel_in(ui, mode, steps):
    bendy_tube()
    yield 5
    before = slow(ui, mode, entries=1)
    for _ in range(steps):
        yield 3
    assert running(ui)
    ui.key("ESC")
    yield 8
    assert not running(ui)
    assert scenes.snapshot() == before and len(bones()) == 3


def test_bendy_escape(ui):
    yield from cancel_in(ui, "OBJECT", 0)
    yield from cancel_in(ui, "POSE", 2)
    yield from cancel_in(ui, "EDIT", 1)


def to_the_end(ui, mode):
    bendy_tube()
    yield 5
    before = slow(ui, mode)
    yield from wait_for_end(ui)
    rig = bpy.data.objects["Rig"]
    assert rig.mode == ("OBJECT" if mode == "OBJECT" else "POSE")
    assert len(bones()) == 3 + 15 and not any(bone.use_deform for bone in bones()[:1])
    yield 5
    ui.key("Z", ctrl=True)
    yield from still(ui)
    assert len(bones()) == 3 and all(bone.use_deform for bone in bones())
    assert scenes.snapshot() == before


def test_bendy_end_and_undo(ui):
    newest_only()
    for mode in ("OBJECT", "POSE", "EDIT"):
        yield from to_the_end(ui, mode)


def test_bendy_another_file_meanwhile(ui):
    """Blender ends the operator; neither the operator nor later work fails."""
    once()
    for mode in ("POSE", "OBJECT"):
        bendy_tube()
        yield 5
        slow(ui, mode, entries=1)
        yield 3
        assert running(ui)
        bpy.ops.wm.read_homefile(use_factory_startup=True)
        yield from still(ui)
        assert "Rig" not in bpy.data.objects and not running(ui)
