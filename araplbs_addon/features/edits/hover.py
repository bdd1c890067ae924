"""Finds the bones that move the vertex under the mouse in Weight Paint mode, and lists them next to
the mouse, each with its share and its color in *All Bones*."""

from contextlib import suppress
from dataclasses import dataclass

import bpy
import gpu
from araplbs.measures.bone_colors import palette
from araplbs.reports.bone_shares import share_lines
from bpy.props import BoolProperty
from bpy.types import Operator

from ...blender.data.binding import armature_of
from ...blender.data.views import redraw_views
from ...blender.read.pointed import nearest_vertex, ray_cast, shares_of
from ...operators.drawing import draw_box, draw_text, text_size

IDNAME = "object.araplbs_hover"
TEXT_SIZE, LINE_HEIGHT, PADDING = 12, 17, 6
OFFSET = (22, -18)  # pixels from the mouse to the upper left corner
SHADE, TEXT, OTHERS = (0.08, 0.08, 0.08, 0.8), (1.0, 1.0, 1.0, 1.0), (0.7, 0.7, 0.7, 1.0)


@dataclass
class Under:
    """The vertex under the mouse."""

    object: str
    vertex: int
    at: tuple[int, int]  # mouse position, in pixels of the region
    region: int  # pointer of the region
    shares: list[tuple[str, float]]  # fractions of the sum of all bones, largest first


under = []  # contains one Under or nothing


class OBJECT_OT_araplbs_hover(Operator):
    """Show the names of the bones that move the vertex under the mouse"""

    # Handles mouse movement and passes it on, so nothing is blocked.

    bl_idname = IDNAME
    bl_label = "Name Weights under the Mouse"
    bl_options = {"INTERNAL"}

    @classmethod
    def poll(cls, context):
        return (
            context.window_manager.araplbs_hover
            and context.mode == "PAINT_WEIGHT"
            and context.region_data is not None
        )

    def invoke(self, context, event):
        found = None
        with suppress(RuntimeError, ReferenceError, IndexError):  # no faces, or mesh changing
            found = vertex_under(context, (event.mouse_region_x, event.mouse_region_y))
        if found or under:
            under[:] = [found] if found else []
            context.area.tag_redraw()
        return {"PASS_THROUGH"}


def vertex_under(context, at):
    """The Under at this pixel of the region, or None."""
    ob = context.active_object
    armature = armature_of(ob)
    if not armature:
        return None
    depsgraph = context.evaluated_depsgraph_get()
    evaluated = ob.evaluated_get(depsgraph)
    hit, place, _normal, face = ray_cast(context, evaluated, at)
    if not hit:
        return None
    vertex = nearest_vertex(ob, evaluated, place, face, depsgraph)
    region = context.region.as_pointer()
    return Under(ob.name, vertex, tuple(at), region, shares_of(ob, armature, vertex))


def draw(context):
    """Draws the list in pixels of the region."""
    if context.mode != "PAINT_WEIGHT" or not context.window_manager.araplbs_hover or not under:
        return
    vertex, ob = under[0], context.active_object
    if vertex.object != ob.name or vertex.region != context.region.as_pointer():
        return
    lines = share_lines(vertex.shares)
    if lines:
        _draw_lines(context, vertex.at, lines, _colors(ob, vertex))


def _colors(ob, vertex):
    armature = armature_of(ob)
    names = [bone.name for bone in armature.data.bones] if armature else []
    colors = palette(len(names))
    return {n: (*colors[names.index(n)], 1.0) for n, _share in vertex.shares if n in names}


def _draw_lines(context, at, lines, colors):
    scale = context.preferences.system.ui_scale
    size, step, pad = TEXT_SIZE * scale, LINE_HEIGHT * scale, PADDING * scale
    width = max(text_size(line, size)[0] for line in lines) + 3 * pad
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
        draw_text(line, x + 2 * pad, base, size, TEXT if name in colors else OTHERS)
    gpu.state.blend_set("NONE")


def draw_choice(layout, context):
    """Draws the switch of the list."""
    layout.prop(context.window_manager, "araplbs_hover")


def _switched(_manager, _context):
    under.clear()
    redraw_views()


CLASSES = (OBJECT_OT_araplbs_hover,)


HOVER = BoolProperty(
    name="Name Weights",
    description="Show the names and weights of the bones that move the vertex under the mouse, "
    "in Weight Paint mode",
    default=True,
    update=_switched,
    options={"SKIP_SAVE"},
)
PROPERTIES = ((bpy.types.WindowManager, "araplbs_hover", HOVER),)
KEYS = (("Weight_Paint", "EMPTY", IDNAME, "MOUSEMOVE", "ANY", {"any": True}),)
forget = under.clear
