"""The operator's places in Blender's menus; menu search finds it there too."""

import bpy

from ..operators.auto_weight import IDNAME


def _draw(self, _context):
    layout = self.layout
    layout.separator()
    layout.operator_context = "INVOKE_DEFAULT"
    layout.operator(IDNAME, icon="MOD_VERTEX_WEIGHT")


def register():
    bpy.types.VIEW3D_MT_object_parent.append(_draw)
    bpy.types.VIEW3D_MT_paint_weight.append(_draw)


def unregister():
    bpy.types.VIEW3D_MT_paint_weight.remove(_draw)
    bpy.types.VIEW3D_MT_object_parent.remove(_draw)
