"""The operator "Select Worst Vertices"."""

from araplbs.measures.strain_colors import worst
from araplbs.reports.last_lines import short
from bpy.props import EnumProperty, FloatProperty
from bpy.types import Operator

from ...blender.read.deformation_errors import object_strain
from ...blender.write.select_region import select_vertices
from ...languages.translate import inform
from ...operators.settings import present_options
from ...preferences import preferred_threads
from .operator import OfMesh


class OBJECT_OT_araplbs_select_worst(OfMesh, Operator):
    """Select only the vertices of the active mesh with the largest stretch around them"""

    bl_idname = "object.araplbs_select_worst"
    bl_label = "Select Worst Vertices"
    bl_options = {"REGISTER", "UNDO"}

    percent: FloatProperty(
        name="Percent",
        description="Percentage of the vertices to select",
        default=1.0,
        min=0.0,
        max=100.0,
        subtype="PERCENTAGE",
    )
    poses: EnumProperty(
        name="Poses",
        items=(
            (
                "POSES",
                "All Poses",
                "Stretch over the poses defined by the settings of the tab",
            ),
            ("POSE", "This Pose", "Stretch in the current pose of the armature"),
        ),
    )

    def execute(self, context):
        ob = context.active_object
        strain = object_strain(
            ob,
            context.view_layer,
            self.poses == "POSE",
            present_options(context),
            preferred_threads(context),
        )
        chosen = worst(strain, self.percent / 100)
        select_vertices(ob.data, chosen)
        inform(
            self,
            f"{len(chosen)} vertices of {short(ob.name)} with a stretch from "
            f"{100 * strain[chosen].min():.1f} to {100 * strain[chosen].max():.1f} %",
        )
        return {"FINISHED"}


CLASSES = (OBJECT_OT_araplbs_select_worst,)
