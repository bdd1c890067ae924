"""Adds the operators to Blender's menus, where the menu search finds them. Most operators declare
their menu entries (operators/menu_entries.py). Some entries depend on the context."""

import bpy

from .. import features, parts
from ..features.auto_weight.operator import OBJECT_OT_araplbs_auto_weight
from ..operators.menu_entries import entries
from .session_box import draw_session_buttons

KINDS = parts.classes_of(features.modules())
PLACES = sorted({place for kind in KINDS for place, _order in getattr(kind, "places", ())})


def draw_rows(layout, place):
    """Draws the rows of a panel for all operators that belong there."""
    layout.operator_context = "INVOKE_DEFAULT"
    for kind in entries(KINDS, place):
        kind.draw_row(layout)


def _draw_in(menu):
    """A function that draws the entries at the end of one of Blender's menus."""

    def draw(self, _context):
        self.layout.separator()
        self.layout.operator_context = "INVOKE_DEFAULT"
        for kind in entries(KINDS, menu):
            kind.draw_entry(self.layout)

    return draw


def _draw_in_context_menu(self, context):
    kinds = {ob.type for ob in context.selected_objects}
    if {"ARMATURE", "MESH"} <= kinds:
        self.layout.separator()
        self.layout.operator_context = "INVOKE_DEFAULT"
        OBJECT_OT_araplbs_auto_weight.draw_entry(self.layout)


def _draw_in_header(self, _context):
    draw_session_buttons(self.layout)


# Our own panels draw their entries themselves.
DRAWN = {menu: _draw_in(menu) for menu in PLACES if "araplbs" not in menu} | {
    "VIEW3D_MT_object_context_menu": _draw_in_context_menu,
    "VIEW3D_HT_header": _draw_in_header,
}


def register():
    for menu, draw in DRAWN.items():
        getattr(bpy.types, menu).append(draw)


def unregister():
    for menu, draw in DRAWN.items():
        getattr(bpy.types, menu).remove(draw)
