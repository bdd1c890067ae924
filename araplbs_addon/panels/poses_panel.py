"""The panel "Poses" for the poses in which the mesh should keep its shape."""

from araplbs.base.sentence import Sentence
from bpy.types import Panel

from ..blender.poses.pose_sources import SourceCounts
from ..blender.read.targets import armature_at_hand
from ..operators.settings import settings_of
from ..operators.sidebar import Closed, draw_named, draw_wrapped
from .menus import draw_rows

_counts = SourceCounts()


class VIEW3D_PT_araplbs_poses(Closed, Panel):
    bl_label = "Poses"
    bl_parent_id = "VIEW3D_PT_araplbs"

    def draw(self, context):
        layout, settings = self.split_layout(), settings_of(context)
        armature = armature_at_hand(context)
        found = _counts.of(armature, context.scene) if armature else None
        column = layout.column(align=True)
        column.prop(settings, "swing")
        column.prop(settings, "twist")
        column.prop(settings, "limb_twist")
        draw_named(layout, settings, "animation", above=True)
        if found:
            lack = found.lacks(settings.animation)
            row = layout.row()
            row.alert = bool(lack)
            text, icon = Sentence("In this file: {found}", found=str(found)), "INFO"
            if lack:
                text, icon = lack, "ERROR"
            draw_wrapped(row, context, text, icon=icon)
        column = layout.column(align=True)
        column.active = settings.animation != "NONE"
        draw_named(column, settings, "animation_frames")
        draw_rows(layout, VIEW3D_PT_araplbs_poses.__name__)
