"""Adds the brushes to the toolbar of Weight Paint mode, as one group with its own icons. Add-ons
cannot define mouse pointers, so the circle around the pointer has the color of the brush."""

from pathlib import Path

import bpy
from bpy.types import WorkSpaceTool
from gpu_extras.presets import draw_circle_2d

from .brush import IDNAME

ICONS = Path(__file__).parent / "icons"  # drawn by tools/brush_icons.py
COLOR = (1.0, 0.75, 0.2, 0.9)
FAINT = 0.45  # opacity of the inner circle, which shows the strength


def _stroke(kind, ctrl=False, shift=False, **properties):
    return (
        IDNAME,
        {"type": "LEFTMOUSE", "value": "PRESS", "ctrl": ctrl, "shift": shift},
        {"properties": [("kind", kind), *properties.items()]},
    )


def _radial(name, **modifiers):
    return (
        "wm.radial_control",
        {"type": "F", "value": "PRESS", **modifiers},
        {"properties": [("data_path_primary", f"scene.araplbs_brush.{name}")]},
    )


SIZES = (_radial("radius"), _radial("strength", shift=True), _radial("weight", ctrl=True))


def _icon(name):
    """The path of an icon. Blender appends the extension, and uses the path unchanged."""
    return str(ICONS / name)


def _circles(color, graded=False):
    """Draws the brush circle in its color. graded: whether to draw an inner circle that shows the
    strength."""

    def draw(context, _tool, xy):
        brush = context.scene.araplbs_brush
        draw_circle_2d(xy, color, brush.radius)
        if graded and brush.strength < 1:
            draw_circle_2d(xy, (*color[:3], FAINT), max(1, brush.radius * brush.strength))

    return staticmethod(draw)


def _settings(*names):
    """A function that draws these settings of the brush in the header."""

    def draw(context, layout, _tool):
        for name in names:
            layout.prop(context.scene.araplbs_brush, name)

    return staticmethod(draw)


class _Tool:
    bl_space_type = "VIEW_3D"
    bl_context_mode = "PAINT_WEIGHT"
    bl_cursor = "CROSSHAIR"
    draw_cursor = _circles(COLOR)


class ARAPLBS_TOOL_weight(_Tool, WorkSpaceTool):
    bl_idname = "araplbs.weight"
    bl_label = "Pin Weight (ARAP)"
    short = "Pin Weight"
    bl_description = (
        "Pin the weight of the active bone where you paint. The solver keeps it and fits the "
        "rest.\nCtrl removes the pin"
    )
    bl_icon = _icon("pin")
    draw_cursor = _circles(COLOR, graded=True)
    bl_keymap = (_stroke("WEIGHT"), _stroke("WEIGHT", ctrl=True, erase=True), *SIZES)

    draw_settings = _settings("weight", "radius", "strength")


class ARAPLBS_TOOL_influence(_Tool, WorkSpaceTool):
    bl_idname = "araplbs.influence"
    bl_label = "Bone Influence (ARAP)"
    short = "Bone Influence"
    bl_description = (
        "Paint where the active bone may move the mesh.\nCtrl keeps the bone away, Shift leaves "
        "the choice to the optimization again"
    )
    bl_icon = _icon("influence")
    draw_cursor = _circles((0.3, 0.9, 0.45, 0.9))
    bl_keymap = (
        _stroke("INFLUENCE"),
        _stroke("INFLUENCE", ctrl=True, erase=True),
        _stroke("INFLUENCE", shift=True, clear=True),
        *SIZES,
    )

    draw_settings = _settings("radius")


class ARAPLBS_TOOL_smooth(_Tool, WorkSpaceTool):
    bl_idname = "araplbs.smooth"
    bl_label = "Smooth Weights (ARAP)"
    short = "Smooth Weights"
    bl_description = (
        "Paint where the weights of all bones should vary smoothly. The solver keeps them smooth "
        "and fits the rest.\nCtrl leaves the weights to the optimization again"
    )
    bl_icon = _icon("smooth")
    draw_cursor = _circles((0.35, 0.7, 1.0, 0.9), graded=True)
    bl_keymap = (_stroke("SMOOTH"), _stroke("SMOOTH", ctrl=True, erase=True), *SIZES)

    draw_settings = _settings("radius", "strength")


class ARAPLBS_TOOL_release(_Tool, WorkSpaceTool):
    bl_idname = "araplbs.release"
    bl_label = "Release from Bone (ARAP)"
    short = "Release from Bone"
    bl_description = (
        "Paint over the points that tie the skin to the active bone to release them. They are "
        "shown during Refine Live; a faint point is a weak tie.\nCtrl ties them again"
    )
    bl_icon = _icon("release")
    draw_cursor = _circles((0.8, 0.8, 0.8, 0.9))
    bl_keymap = (_stroke("RELEASE"), _stroke("RELEASE", ctrl=True, erase=True), *SIZES)

    draw_settings = _settings("radius")


class ARAPLBS_TOOL_link(_Tool, WorkSpaceTool):
    bl_idname = "araplbs.link"
    bl_label = "Link Parts (ARAP)"
    short = "Link Parts"
    bl_description = "Drag from one part to another to make them move together"
    bl_icon = _icon("link")
    bl_keymap = (_stroke("LINK"),)
    draw_cursor = None


TOOLS = (
    ARAPLBS_TOOL_weight,
    ARAPLBS_TOOL_influence,
    ARAPLBS_TOOL_smooth,
    ARAPLBS_TOOL_release,
    ARAPLBS_TOOL_link,
)


def register():
    first, *others = TOOLS
    bpy.utils.register_tool(first, separator=True, group=True)
    for before, tool in zip(TOOLS, others, strict=False):
        bpy.utils.register_tool(tool, after={before.bl_idname})


def unregister():
    for tool in reversed(TOOLS):
        bpy.utils.unregister_tool(tool)
