"""The operator "Quantize Weights"."""

from bpy.types import Operator

from ..blender.targets import find_targets
from ..core.quantize import QuantizeOptions, summary_of_quantized
from ..core.refusal import Refused
from ..tasks.quantizing import QuantizeTask
from .auto_weight import poll_targets
from .properties import option_properties, options_of

IDNAME = "object.araplbs_quantize_weights"
LABEL = "Quantize Weights"


class OBJECT_OT_araplbs_quantize_weights(Operator):
    """Make the present weights of the selected meshes what game engines store: steps of 8 or 16 \
bits that sum to 1 exactly, and no more influences than the platform takes"""

    bl_idname = IDNAME
    bl_label = LABEL
    bl_options = {"REGISTER", "UNDO", "PRESET"}  # noqa: RUF012

    __annotations__ = option_properties(QuantizeOptions)

    @classmethod
    def poll(cls, context):
        return poll_targets(cls, context, find_targets)

    def draw(self, _context):
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        layout.prop(self, "bits")
        layout.prop(self, "platform")
        row = layout.row()
        row.active = self.platform == "CUSTOM"
        row.prop(self, "max_influences")
        layout.prop(self, "threshold")

    def execute(self, context):
        task = QuantizeTask(options_of(self, QuantizeOptions))
        try:
            task.read(find_targets(context), context.view_layer)
            task.solve()
            report = task.apply()
        except Refused as reason:
            self.report({"ERROR"}, str(reason))
            return {"CANCELLED"}
        self.report({"INFO"}, summary_of_quantized(report))
        for line in task.warnings:
            self.report({"WARNING"}, line)
        return {"FINISHED"}
