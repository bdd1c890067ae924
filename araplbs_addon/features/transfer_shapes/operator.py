"""The operator "Transfer Shape Keys"."""

from functools import partial
from operator import attrgetter

from araplbs.cli.own_arguments import add_sources_and_targets
from araplbs.features.transfer_shapes import ShapeOptions, shapes_summary
from bpy.types import Operator

from ...blender.read.transfer_targets import (
    find_one_source_in_file,
    find_shape_targets,
    make_shape_targets,
)
from ...languages.translate import translated
from ...operators.command import Command
from ...operators.properties import OptionProperties, split
from ...operators.work import WorkOperator
from .task import ShapesTask

IDNAME = "object.araplbs_transfer_shapes"


class OBJECT_OT_araplbs_transfer_shapes(WorkOperator, OptionProperties, Operator):
    """Transfer the shape keys of the active mesh to the other selected meshes (clothes, hair, \
levels of detail). Parts close to it follow it, and the rest is filled in"""

    bl_idname = IDNAME
    bl_label = "Transfer Shape Keys"
    places = (("VIEW3D_MT_make_links", 20),)
    icon = "SHAPEKEY_DATA"

    option_table = ShapeOptions
    task_kind = ShapesTask
    summary = staticmethod(shapes_summary)
    doing = "Transferring"
    find = staticmethod(find_shape_targets)

    @classmethod
    def description(cls, _context, properties):
        if properties.sliders == "FOLLOW":
            return translated(
                "Transfer the shape keys and let the keys of the body drive them: a driver "
                "gives each new key the value of its source key"
            )
        return None

    def draw(self, _context):
        layout = split(self.layout)
        column = layout.column(align=True)
        column.prop(self, "distance")
        column.prop(self, "angle")
        layout.prop(self, "two_sided")
        layout.prop(self, "keep_above")
        layout.prop(self, "sliders")


CLASSES = (OBJECT_OT_araplbs_transfer_shapes,)
COMMAND = Command(
    "shapes",
    "transfer shape keys between meshes of .blend files",
    "Gives meshes the shape keys of another mesh that lies close to them. The input stays "
    "unchanged unless --in-place is given.",
    ShapesTask,
    ShapeOptions,
    shapes_summary,
    find=partial(find_one_source_in_file, make=make_shape_targets),
    subject=attrgetter("source"),
    own=partial(add_sources_and_targets, data="shape keys", several=False),
)
