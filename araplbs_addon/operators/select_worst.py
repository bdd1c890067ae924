"""The operator "Select Worst Vertices"."""

from bpy.props import EnumProperty, FloatProperty
from bpy.types import Operator

from ..blender.deformation_errors import object_strain
from ..blender.select_region import select_vertices
from ..core.error_map import worst
from ..core.refusal import Refused
from ..preferences import preferred_threads
from .edit import OfMesh
from .settings import present_options


class OBJECT_OT_araplbs_select_worst(OfMesh, Operator):
    """Select the vertices of the active mesh with the largest Surface Strain around them, and no \
others"""

    bl_idname = "object.araplbs_select_worst"
    bl_label = "Select Worst Vertices"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    percent: FloatProperty(
        name="Percent",
        description="Share of the vertices that is selected",
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
                "Surface Strain over the poses that the settings of the tab give",
            ),
            ("POSE", "This Pose", "Surface Strain in the pose that the armature is in"),
        ),
    )

    def execute(self, context):
        ob = context.active_object
        try:
            strain = object_strain(
                ob,
                context.view_layer,
                self.poses == "POSE",
                present_options(context),
                preferred_threads(context),
            )
        except Refused as reason:
            self.report({"ERROR"}, str(reason))
            return {"CANCELLED"}
        chosen = worst(strain, self.percent / 100)
        select_vertices(ob.data, chosen)
        self.report(
            {"INFO"},
            f"{len(chosen)} vertices of '{ob.name}' with Surface Strain from "
            f"{100 * strain[chosen].min():.1f} to {100 * strain[chosen].max():.1f} %",
        )
        return {"FINISHED"}
