"""A tube in Weight Paint mode, and a session on it."""

import bpy
import scenes
from driver import clear, session, show, wait_until

RINGS, SIDES = 60, 24


def make_tube(rings=RINGS, sides=SIDES, weigh=True):
    clear()
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
    yield 8


def begin(ui, **options):
    with ui.override():
        found = bpy.ops.object.araplbs_refine_weights("INVOKE_DEFAULT", **options)
    assert found == {"RUNNING_MODAL"}


def settle():
    yield from wait_until(lambda: session() and session().settled)
