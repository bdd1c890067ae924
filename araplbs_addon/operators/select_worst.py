"""The operator "Select Worst Vertices"."""

from bpy.props import EnumProperty, FloatProperty
from bpy.types import Operator

from ..blender.errors import object_errors
from ..core.error_map import worst
from ..core.errors import Refused
from ..preferences import preferred_threads
from .edit import OfMesh, select_vertices


class OBJECT_OT_araplbs_select_worst(OfMesh, Operator):
    """Select the vertices of the active mesh around which it deforms worst, and no others"""

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
            ("POSES", "All Poses", "The mean error over random poses"),
            ("POSE", "This Pose", "The error in the pose that the armature is in"),
        ),
    )

    def execute(self, context):
        ob = context.active_object
        try:
            errors = object_errors(
                ob, context.view_layer, self.poses == "POSE", threads=preferred_threads(context)
            )
        except Refused as reason:
            self.report({"ERROR"}, str(reason))
            return {"CANCELLED"}
        chosen = worst(errors, self.percent / 100)
        select_vertices(ob.data, chosen)
        self.report(
            {"INFO"},
            f"{len(chosen)} vertices of '{ob.name}' with errors from "
            f"{100 * errors[chosen].min():.1f} to {100 * errors[chosen].max():.1f} %",
        )
        return {"FINISHED"}
