"""Every panel of the tab, open and with the expert settings. Each panel is placed directly below
the first one, so that all of it is on the screen for visual inspection. No panel raises an error
when it is drawn."""

import secrets

import bpy
import scenes
from driver import clear, open_sidebar, region, reset_settings

# Where each is looked at; all others in Object mode with the mesh.
MODES = {"bones": "WEIGHT_PAINT", "joints": "POSE", "expert-joints": "POSE"}


def panels():
    """(the first panel, those below it) of the tab."""
    found = [
        kind
        for kind in scenes.addon("panels.classes").CLASSES
        if getattr(kind, "bl_category", "") == "Auto-weight"
    ]
    return found[0], found[1:]


def opened(kind, drawn):
    """The same panel under another name, under which Blender has not yet closed it; drawn: receives
    the result of its draw(), True or an error."""

    def draw(panel, context):
        try:
            kind.draw(panel, context)
            drawn.append(True)
        except Exception as error:
            drawn.append(error)
            raise

    own = {"draw": draw, "bl_options": set()}
    return type(f"{kind.__name__}_{secrets.token_hex(2)}", (kind,), own)


def set_up(ui):
    """Weights, findings and corrections, so that all panels show something."""
    clear()
    tube, rig = scenes.tube_and_rig()
    scenes.auto_weight(tube, rig)
    tube.vertex_groups["lower"].add(range(60, 90), 0.9, "REPLACE")
    scenes.select(tube)
    bpy.ops.object.araplbs_check()
    paint = scenes.addon("features.edits.operator").paint_edit
    paint(tube.data, "WEIGHT", "lower", [5, 6, 7], 1.5)
    yield from open_sidebar(ui)
    return tube, rig


def looks():
    """(name of the picture, panel, its open box) of all."""
    _first, others = panels()
    for kind in others:
        name = kind.__name__.rpartition("_")[2]
        if name != "expert":
            yield name, kind, ""
            continue
        for box in ("Weights", "Poses", "Clothes and LODs", "Joints"):
            yield f"expert-{box.split()[0].lower()}", kind, box


def test_every_panel_open(ui):
    tube, rig = yield from set_up(ui)
    _first, others = panels()
    expert = scenes.addon("panels.expert_panel")
    preferences = bpy.context.preferences.addons["bl_ext.user_default.araplbs"].preferences
    preferences.expert = True
    for kind in others:
        bpy.utils.unregister_class(kind)
    try:
        for name, kind, box in looks():
            mode = MODES.get(name, "OBJECT")
            scenes.select(rig if mode == "POSE" else tube)
            with ui.override():
                bpy.ops.object.mode_set(mode=mode)
            assert kind.poll(bpy.context), (name, mode)
            expert.OPEN, drawn = (box,), []
            alone = opened(kind, drawn)
            bpy.utils.register_class(alone)
            for _ in range(4):
                region(ui, "UI").tag_redraw()
                yield 3
            ui.picture(f"panel-{name}")
            bpy.utils.unregister_class(alone)
            assert drawn and set(drawn) == {True}, (name, drawn)
            with ui.override():
                bpy.ops.object.mode_set(mode="OBJECT")
    finally:
        preferences.expert, expert.OPEN = False, ()
        for kind in others:
            bpy.utils.register_class(kind)
    reset_settings()
