"""The operator "Show Problems": lists the remaining problems of a weighting in Check Weights."""

import bpy
from araplbs.base.refusal import Refused
from bpy.types import Operator

from ..check.findings_list import found
from .outcome import OfOutcome, outcome_at_hand

IDNAME = "object.araplbs_show_problems"


class OBJECT_OT_araplbs_show_problems(OfOutcome, Operator):
    """List the remaining problems, with a remedy for each"""

    bl_idname = IDNAME
    bl_label = "Show Problems"
    bl_options = {"INTERNAL"}  # noqa: RUF012

    def execute(self, context):
        list_problems(outcome_at_hand(context))
        show_list()
        return {"FINISHED"}


def list_problems(outcome):
    """Makes the remaining problems of an Outcome the list of findings."""
    if outcome.findings is None:
        raise Refused("Check Weights finds them")
    found.keep(outcome.findings, outcome.bones, outcome.armature, outcome.objects, outcome.poses)


def show_list():
    bpy.ops.wm.call_panel(name="VIEW3D_PT_araplbs_check", keep_open=True)


CLASSES = (OBJECT_OT_araplbs_show_problems,)
