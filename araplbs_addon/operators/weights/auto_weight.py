"""The operator "Auto-weight (ARAP)"."""

import bpy
from bpy.types import Operator

from ...blender.read.targets import find_targets
from ...tasks.judged import JudgedWeighting
from ...tasks.weighting import WeightingTask
from ..base.properties import (
    BoneChoice,
    OptionProperties,
    draw_folded_options,
    draw_result_options,
)
from ..base.work import WorkOperator
from .outcome import tell_outcome

IDNAME = "object.araplbs_auto_weight"
LABEL = "Auto-weight (ARAP)"


class OBJECT_OT_araplbs_auto_weight(WorkOperator, BoneChoice, OptionProperties, Operator):
    """Give the selected meshes skinning weights for the armature, so that they keep their shape \
as well as possible when posed"""

    bl_idname = IDNAME
    bl_label = LABEL
    bl_options = {"REGISTER", "UNDO", "PRESET"}  # noqa: RUF012

    tell = tell_outcome

    @staticmethod
    def find(context):
        return find_targets(context, posing=True)

    def start(self, context):
        self.task_kind = JudgedWeighting if is_seen() else WeightingTask
        super().start(context)

    def draw(self, _context):
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        draw_result_options(layout, self)
        draw_folded_options(layout, self)


def is_seen():
    """Whether somebody looks at what is done: then it is compared with what was there before."""
    return not bpy.app.background
