"""The operators' places in Blender's menus; menu search finds them there too."""

import bpy

from ...operators.edits.rigid import VIEW3D_MT_araplbs_rigid
from ...operators.findings.check import IDNAME as CHECK
from ...operators.weights.auto_weight import IDNAME
from ...operators.weights.bake import IDNAME as BAKE
from ...operators.weights.bendy import IDNAME as BENDY
from ...operators.weights.compare import ASK as COMPARE
from ...operators.weights.joints import IDNAME as JOINTS
from ...operators.weights.refine import IDNAME as REFINE
from ...operators.weights.shapes import IDNAME as SHAPES
from ...operators.weights.transfer import IDNAME as TRANSFER
from ...operators.weights.weight_new import IDNAME as WEIGHT_NEW
from .session_box import draw_session_buttons


def _draw(self, _context):
    layout = self.layout
    layout.separator()
    layout.operator_context = "INVOKE_DEFAULT"
    layout.operator(IDNAME, icon="MOD_VERTEX_WEIGHT")
    layout.operator(REFINE, icon="PLAY")
    layout.operator(WEIGHT_NEW)
    layout.operator(BAKE, icon="MOD_MESHDEFORM")
    layout.operator(CHECK, icon="VIEWZOOM")
    layout.operator(COMPARE)


def _draw_in_context_menu(self, context):
    kinds = {ob.type for ob in context.selected_objects}
    if {"ARMATURE", "MESH"} <= kinds:
        self.layout.separator()
        self.layout.operator_context = "INVOKE_DEFAULT"
        self.layout.operator(IDNAME, icon="MOD_VERTEX_WEIGHT")


def _draw_new(self, _context):
    layout = self.layout
    layout.separator()
    layout.operator_context = "INVOKE_DEFAULT"
    layout.operator(WEIGHT_NEW, icon="MOD_VERTEX_WEIGHT")
    layout.operator(CHECK, icon="VIEWZOOM")


def _draw_joints(self, _context):
    layout = self.layout
    layout.separator()
    layout.operator_context = "INVOKE_DEFAULT"
    layout.operator(JOINTS, icon="GROUP_BONE")


def _draw_bendy(self, _context):
    self.layout.separator()
    self.layout.operator(BENDY, icon="GROUP_BONE")


def _draw_rigid(self, _context):
    self.layout.separator()
    self.layout.menu(VIEW3D_MT_araplbs_rigid.__name__)


def _draw_transfer(self, _context):
    self.layout.separator()
    self.layout.operator_context = "INVOKE_DEFAULT"
    self.layout.operator(TRANSFER, icon="MOD_DATA_TRANSFER")
    self.layout.operator(SHAPES, icon="SHAPEKEY_DATA")


def _draw_in_header(self, _context):
    draw_session_buttons(self.layout)


def register():
    bpy.types.VIEW3D_MT_object_parent.append(_draw)
    bpy.types.VIEW3D_MT_object_parent.append(_draw_joints)
    bpy.types.VIEW3D_MT_object_context_menu.append(_draw_in_context_menu)
    bpy.types.VIEW3D_MT_pose.append(_draw_joints)
    bpy.types.VIEW3D_MT_paint_weight.append(_draw)
    bpy.types.VIEW3D_MT_edit_mesh_weights.append(_draw_new)
    bpy.types.VIEW3D_MT_pose.append(_draw_bendy)
    bpy.types.VIEW3D_MT_edit_armature.append(_draw_bendy)
    bpy.types.VIEW3D_MT_edit_mesh_vertices.append(_draw_rigid)
    bpy.types.VIEW3D_MT_make_links.append(_draw_transfer)
    bpy.types.VIEW3D_HT_header.append(_draw_in_header)


def unregister():
    bpy.types.VIEW3D_HT_header.remove(_draw_in_header)
    bpy.types.VIEW3D_MT_edit_mesh_vertices.remove(_draw_rigid)
    bpy.types.VIEW3D_MT_make_links.remove(_draw_transfer)
    bpy.types.VIEW3D_MT_edit_armature.remove(_draw_bendy)
    bpy.types.VIEW3D_MT_pose.remove(_draw_bendy)
    bpy.types.VIEW3D_MT_edit_mesh_weights.remove(_draw_new)
    bpy.types.VIEW3D_MT_paint_weight.remove(_draw)
    bpy.types.VIEW3D_MT_pose.remove(_draw_joints)
    bpy.types.VIEW3D_MT_object_context_menu.remove(_draw_in_context_menu)
    bpy.types.VIEW3D_MT_object_parent.remove(_draw_joints)
    bpy.types.VIEW3D_MT_object_parent.remove(_draw)
