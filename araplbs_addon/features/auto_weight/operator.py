"""The operator "Auto-weight (ARAP)"."""

from dataclasses import replace
from functools import partial

from araplbs.cli.worse import (
    KEEP,
    add_if_worse,
    add_only_new,
    code_if_worse,
    refuse_with_only_new,
)
from araplbs.model.options import Options
from araplbs.reports.report import summary, summary_of_new
from bpy.types import Operator

from ...blender.read.targets import find_posing
from ...operators.command import WHICH, Command
from ...operators.properties import WeightOptions
from ...operators.work import WorkOperator
from ...weighting import WeightingTask
from ..new_vertices.task import NewVerticesTask
from .originals import is_seen
from .outcome import tell_outcome
from .tasks import ComparedWeighting, MeasuredWeighting

IDNAME = "object.araplbs_auto_weight"


class OBJECT_OT_araplbs_auto_weight(WorkOperator, WeightOptions, Operator):
    """Compute skinning weights that preserve the shape of the selected meshes as well as \
possible when the armature is posed"""

    bl_idname = IDNAME
    bl_label = "Auto-weight (ARAP)"
    bl_options = {"REGISTER", "UNDO", "PRESET"}
    places = (("VIEW3D_MT_object_parent", 10), ("VIEW3D_MT_paint_weight", 10))
    icon = "MOD_VERTEX_WEIGHT"

    tell = tell_outcome

    find = staticmethod(find_posing)

    def start(self, context):
        self.task_kind = MeasuredWeighting if is_seen() else WeightingTask
        super().start(context)


def _own(parser):
    add_only_new(parser)
    add_if_worse(parser)


def _choose_new(command, arguments):
    if not arguments.only_new:
        keep = arguments.if_worse == KEEP
        return replace(command, task=partial(ComparedWeighting, keep=keep))
    refuse_with_only_new(arguments)
    return replace(command, task=NewVerticesTask, summary=summary_of_new)


CLASSES = (OBJECT_OT_araplbs_auto_weight,)
COMMAND = Command(
    "weight",
    "weight the meshes of .blend files",
    f"Weights every armature's meshes: {WHICH}",
    ComparedWeighting,
    Options,
    summary,
    own=_own,
    choose=_choose_new,
    weights_of=lambda report: report,
    has_pictures=True,
    has_presets=True,
    code_of=code_if_worse,
)
