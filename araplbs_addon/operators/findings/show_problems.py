"""The operator "Show Problems": what a weighting has left, in the list of Check Weights."""

import bpy
from bpy.types import Operator

from ...core.base.refusal import Refused
from ..weights.outcome import OfOutcome, outcome_at_hand
from .found import found

IDNAME = "object.araplbs_show_problems"


class OBJECT_OT_araplbs_show_problems(OfOutcome, Operator):
    """List the problems that are left, with what can be done about each"""

    bl_idname = IDNAME
    bl_label = "Show Problems"
    bl_options = {"INTERNAL"}  # noqa: RUF012

    def execute(self, context):
        outcome = outcome_at_hand(context)
        if outcome.findings is None:
            raise Refused("Check Weights finds them")
        about = outcome.bones, outcome.armature, outcome.objects, outcome.poses
        found.keep(outcome.findings, *about)
        show_list()
        return {"FINISHED"}


def show_list():
    bpy.ops.wm.call_panel(name="VIEW3D_PT_araplbs_check", keep_open=True)


CLASSES = (OBJECT_OT_araplbs_show_problems,)
