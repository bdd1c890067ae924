"""The panel "Export" with tools that prepare rigs for games and convert modifiers to weights."""

from bpy.types import Panel

from ..languages.translate import translated
from ..operators.sidebar import Closed, draw_named, panel_room, shortened
from .menus import draw_rows


class VIEW3D_PT_araplbs_export(Closed, Panel):
    bl_label = "Export"

    def draw(self, context):
        layout = self.layout
        draw_rows(layout, VIEW3D_PT_araplbs_export.__name__)
        ob = context.active_object
        material = ob.active_material if ob and ob.type == "MESH" else None
        if material:
            text = translated(f"Max Influences of {material.name}")
            text = shortened(text, panel_room(context))
            draw_named(layout, material, "araplbs_max_influences", text=text)
