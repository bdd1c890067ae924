"""The operator "Weight Only What Is New"."""

from araplbs.reports.last_lines import new_line
from araplbs.reports.report import summary_of_new
from bpy.types import Operator

from ...blender.read.targets import find_targets
from ...languages.translate import inform
from ...window.properties import WeightOptions
from ...window.work import WorkOperator, tell
from .task import NewVerticesTask

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


CLASSES = (OBJECT_OT_araplbs_new_vertices,)
