"""Draws a list next to the mouse in Weight Paint mode. The list names the bones that move the
vertex under the mouse, each with its share and its color in *All Bones*."""

import blf
import gpu
from araplbs.measures.bone_colors import palette
from araplbs.reports.bone_shares import share_lines

from ...blender.data.binding import armature_of
from ...window.drawing import draw_box
from .hover import under

TEXT_SIZE, LINE_HEIGHT, PADDING = 12, 17, 6
OFFSET = (22, -18)  # pixels from the mouse to the upper left corner
SHADE, TEXT, OTHERS = (0.08, 0.08, 0.08, 0.8), (1.0, 1.0, 1.0, 1.0), (0.7, 0.7, 0.7, 1.0)


def draw(context):
    """Draws the list in pixels of the region."""
    if context.mode != "PAINT_WEIGHT" or not context.window_manager.araplbs_hover or not under:
        return
    found, ob = under[0], context.active_object
    if found.object != ob.name or found.region != context.region.as_pointer():
        return
    lines = share_lines(found.shares)
    if lines:
        _draw_lines(context, found.at, lines, _colors(ob, found))


def _colors(ob, found):
    armature = armature_of(ob)
    names = [bone.name for bone in armature.data.bones] if armature else []
    colors = palette(len(names))
    return {n: (*colors[names.index(n)], 1.0) for n, _share in found.shares if n in names}


def _draw_lines(context, at, lines, colors):
    scale = context.preferences.system.ui_scale
    blf.size(0, TEXT_SIZE * scale)
    step, pad = LINE_HEIGHT * scale, PADDING * scale
    width = max(blf.dimensions(0, line)[0] for line in lines) + 3 * pad
    height = step * len(lines) + pad
    x = min(at[0] + OFFSET[0] * scale, context.region.width - width)
    y = max(at[1] + OFFSET[1] * scale, height)
    gpu.state.blend_set("ALPHA")
    draw_box(x, y - height, width, height, SHADE)
    for number, line in enumerate(lines):
        base = y - step * (number + 1) + pad / 2
        name = line.rpartition("  ")[0]
        if name in colors:
            draw_box(x, base - pad / 2, pad, step, colors[name])
        blf.color(0, *(TEXT if name in colors else OTHERS))
        blf.position(0, x + 2 * pad, base, 0)
        blf.draw(0, line)
    gpu.state.blend_set("NONE")


def draw_choice(layout, context):
    """Draws the switch of the list."""
    layout.prop(context.window_manager, "araplbs_hover")
