"""The operator "Transfer Shape Keys"."""

from bpy.types import Operator

from ...blender.read.transfer_targets import find_shape_targets
from ...core.tools.shapes import ShapeOptions, shapes_summary
from ...tasks.shapes import ShapesTask
from ..base.properties import OptionProperties, option_properties
from ..base.work import WorkOperator, tell

IDNAME = "object.araplbs_transfer_shapes"
LABEL = "Transfer Shape Keys"


class OBJECT_OT_araplbs_transfer_shapes(WorkOperator, OptionProperties, Operator):
    """Give the other selected meshes (clothes, hair, levels of detail) the shape keys of the \
active one: where they lie close to it they follow it, and the rest is filled in"""

    bl_idname = IDNAME
    bl_label = LABEL
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    __annotations__ = option_properties(ShapeOptions)
    option_table = ShapeOptions
    own_options = ("keep_above", "sliders")
    task_kind = ShapesTask
    doing = "Transferring"
    find = staticmethod(find_shape_targets)

    def draw(self, _context):
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        column = layout.column(align=True)
        column.prop(self, "distance")
        column.prop(self, "angle")
        layout.prop(self, "two_sided")
        layout.prop(self, "keep_above")
        layout.prop(self, "sliders")

    def tell(self, report, task):
        return tell(self, None, task, shapes_summary(report))
