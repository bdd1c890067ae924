"""The operator "Bake Modifiers to Weights (ARAP)"."""

from bpy.types import Operator

from ..blender.targets import find_targets
from ..core.bake import BakeOptions, bake_summary
from ..core.refusal import Refused
from ..live.session import current_session
from ..tasks.baking import BakeTask
from .auto_weight import WorkOperator
from .properties import OptionProperties, option_names, option_properties

IDNAME = "object.araplbs_bake"
LABEL = "Bake Modifiers to Weights (ARAP)"


class OBJECT_OT_araplbs_bake(WorkOperator, OptionProperties, Operator):
    """Give the selected meshes the weights with which bones alone come nearest to what all their \
modifiers do: Corrective Smooth, Preserve Volume, shape keys, lattices, cloth, caches"""

    bl_idname = IDNAME
    bl_label = LABEL
    bl_options = {"REGISTER", "UNDO", "PRESET"}  # noqa: RUF012

    __annotations__ = option_properties(BakeOptions)
    option_table = BakeOptions
    own_options = tuple(n for n in option_names(BakeOptions) if n not in option_names())
    label = LABEL
    make_task = BakeTask

    @classmethod
    def poll(cls, context):
        if current_session():
            cls.poll_message_set("A refining session is running: accept or cancel it first")
            return False
        try:
            find_targets(context)
        except Refused as reason:
            cls.poll_message_set(str(reason))
            return False
        return True

    def draw(self, _context):
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        for name in option_names(BakeOptions):
            if self.poses == "RANDOM" or name not in (
                "swing",
                "twist",
                "reach_poses",
                "seed",
                "use_joint_limits",
            ):
                layout.prop(self, name)

    def tell(self, report, task):
        for line in task.warnings:
            self.report({"WARNING"}, line)
        self.report({"INFO"}, bake_summary(report))
        return {"FINISHED"}
