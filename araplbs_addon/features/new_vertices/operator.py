"""The operator "Weight Only What Is New", and the one that smooths below a brush."""

import numpy as np
from araplbs.base.refusal import Refused
from araplbs.reports.last_lines import new_line
from araplbs.reports.report import summary_of_new
from bpy.props import StringProperty
from bpy.types import Operator

from ...blender.read.targets import find_targets
from ...languages.translate import inform
from ...operators.properties import WeightOptions
from ...operators.work import WorkOperator, tell
from .task import NewVerticesTask

BELOW = "object.araplbs_solve_below"
IDNAME = "object.araplbs_new_vertices"


class OBJECT_OT_araplbs_new_vertices(WorkOperator, WeightOptions, Operator):
    """Weight the vertices that have no weights to continue those around them. In Edit mode or \
with a paint mask, weight the selected vertices instead. All other vertices stay unchanged"""

    bl_idname = IDNAME
    bl_label = "Weight Only What Is New"
    places = (
        ("VIEW3D_MT_object_parent", 30),
        ("VIEW3D_MT_paint_weight", 30),
        ("VIEW3D_MT_edit_mesh_weights", 10),
    )
    icon = "MOD_VERTEX_WEIGHT"

    own_options = ("start_from", "volume")  # it uses the surface and the surrounding weights
    task_kind = NewVerticesTask

    @staticmethod
    def find(context):
        return find_targets(context, editing=True)

    def tell(self, report, task):
        inform(self, summary_of_new(report))
        return tell(self, report, task, new_line(report))


class OBJECT_OT_araplbs_solve_below(WorkOperator, WeightOptions, Operator):
    """Compute the weights of the vertices below a stroke again. All others stay unchanged"""

    bl_idname = BELOW
    bl_label = "Smooth Weights below the Brush"
    bl_options = {"UNDO", "INTERNAL"}

    vertices: StringProperty(subtype="BYTE_STRING", options={"HIDDEN", "SKIP_SAVE"})

    own_options = ("start_from", "volume")
    task_kind = NewVerticesTask

    def start(self, context):
        super().start(context)
        count = len(context.active_object.data.vertices)
        bits = np.frombuffer(self.vertices, np.uint8)
        if len(bits) != (count + 7) // 8:
            raise Refused("These are the vertices of another mesh")
        self._task.below = np.unpackbits(bits, count=count).astype(bool)

    def tell(self, report, task):
        return tell(self, report, task, new_line(report))


CLASSES = (OBJECT_OT_araplbs_new_vertices, OBJECT_OT_araplbs_solve_below)
