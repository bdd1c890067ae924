"""Finds the bones that move the vertex under the mouse in Weight Paint mode, with their shares."""

from contextlib import suppress
from dataclasses import dataclass

import bpy
from bpy.props import BoolProperty
from bpy.types import Operator

from ...blender.data.binding import armature_of
from ...blender.data.views import redraw_views
from ...blender.read.pointed import nearest_vertex, ray_cast, shares_of

IDNAME = "object.araplbs_hover"


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
    bl_options = {"INTERNAL"}  # noqa: RUF012

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
