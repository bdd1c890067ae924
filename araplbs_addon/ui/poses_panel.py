"""The panel "Poses": the poses in which the mesh keeps its shape."""

from bpy.types import Panel

from ..blender.poses.pose_sources import SourceCounts
from ..features.control_bones.operator import armature_at_hand
from ..window.properties import draw_played_options
from ..window.settings import settings_of
from ..window.sidebar import Closed
from .menus import draw_rows

_counts = SourceCounts()


class VIEW3D_PT_araplbs_poses(Closed, Panel):
    bl_label = "Poses"
    bl_parent_id = "VIEW3D_PT_araplbs"

    def draw(self, context):
        layout, settings = self.split_layout(), settings_of(context)
        armature, found = armature_at_hand(context), None
        if armature and armature.type == "ARMATURE":
            found = _counts.of(armature, context.scene)
        column = layout.column(align=True)
        column.prop(settings, "swing")
        column.prop(settings, "twist")
        draw_played_options(layout, settings, found)
        draw_rows(layout, type(self).__name__)
