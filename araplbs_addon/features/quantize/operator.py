"""The operator "Quantize Weights"."""

from araplbs.features.quantize import QuantizeOptions, summary_of_quantized
from bpy.types import Operator

from ...operators.command import WHICH, Command
from ...operators.properties import OptionProperties, option_names, split
from ...operators.work import WorkOperator
from .task import QuantizeTask

IDNAME = "object.araplbs_quantize"


class OBJECT_OT_araplbs_quantize(WorkOperator, OptionProperties, Operator):
    """Convert the current weights of the selected meshes to the form that game engines store: \
8-bit or 16-bit steps that sum to exactly 1, with no more influences than the platform allows"""

    bl_idname = IDNAME
    bl_label = "Quantize Weights"
    bl_options = {"REGISTER", "UNDO", "PRESET"}
    places = (("VIEW3D_PT_araplbs_export", 10),)
    icon = "MOD_VERTEX_WEIGHT"

    option_table = QuantizeOptions
    own_options = tuple(option_names(QuantizeOptions))  # not in the panel
    task_kind = QuantizeTask
    summary = staticmethod(summary_of_quantized)
    doing = "Quantizing"

    def draw(self, _context):
        layout = split(self.layout)
        layout.prop(self, "bits")
        layout.prop(self, "platform")
        row = layout.row()
        row.active = self.platform == "CUSTOM"
        row.prop(self, "max_influences")
        layout.prop(self, "threshold")


CLASSES = (OBJECT_OT_araplbs_quantize,)
COMMAND = Command(
    "quantize",
    "store the weights of .blend files as game engines do",
    f"Quantizes the weights of every armature's meshes: {WHICH}",
    QuantizeTask,
    QuantizeOptions,
    summary_of_quantized,
)
