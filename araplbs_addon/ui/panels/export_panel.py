"""The panel "Export": what makes rigs fit for games, and modifiers into weights."""

from bpy.types import Panel

from ...operators.weights import bake, bendy
from ...operators.weights.quantize import IDNAME as QUANTIZE
from .sidebar import Closed


class VIEW3D_PT_araplbs_export(Closed, Panel):
    bl_label = "Export"

    def draw(self, context):
        layout = self.layout
        layout.operator_context = "INVOKE_DEFAULT"
        layout.operator(QUANTIZE, icon="MOD_VERTEX_WEIGHT")
        layout.operator(bendy.IDNAME, text="Bendy Bones to Bones", icon="GROUP_BONE")
        layout.operator_menu_enum(
            bake.IDNAME, "poses", text="Bake Modifiers to Weights", icon="MOD_MESHDEFORM"
        )
        ob = context.active_object
        material = ob.active_material if ob and ob.type == "MESH" else None
        if material:
            layout.prop(
                material, "araplbs_max_influences", text=f"Max Influences of {material.name}"
            )
