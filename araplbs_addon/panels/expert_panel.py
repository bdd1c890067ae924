"""The panel "Expert" for settings that require some knowledge of the method. The panel is displayed
if the preference "Expert Settings" is on. The settings of the 2018 paper are available only in
presets, on the command line and in Python."""

from bpy.types import Panel

from ..features.joints import panel as joint_panel
from ..operators.properties import draw_expert_options
from ..operators.settings import settings_of
from ..operators.sidebar import Closed
from ..preferences import shows_expert

POSES = ("pose_count", "reach_poses", "seed", "use_joint_limits", "through_rig")
TRANSFER = ("angle", "two_sided", "refine", "bones", "mix")


class VIEW3D_PT_araplbs_expert(Closed, Panel):
    bl_label = "Expert"

    @classmethod
    def poll(cls, context):
        return super().poll(context) and shows_expert(context)

    def draw(self, context):
        layout, settings = self.split_layout(), settings_of(context)
        for title, draw in (
            ("Weights", lambda box: draw_expert_options(box, settings)),
            ("Poses", lambda box: _draw(box, settings, POSES)),
            ("Clothes and LODs", lambda box: _draw(box, settings.transfer, TRANSFER)),
            ("Joints", lambda box: _draw_joints(box, context, settings)),
        ):
            header, body = layout.panel(f"ARAPLBS_expert_{title}", default_closed=True)
            header.label(text=title)
            if body:
                draw(body)


def _draw(layout, settings, names):
    column = layout.column(align=True)
    for name in names:
        column.prop(settings, name)


def _draw_joints(layout, context, settings):
    _draw(layout, settings.joints, joint_panel.FEW)
    if context.active_bone:
        layout.prop(context.active_bone.araplbs_joint, "material")
