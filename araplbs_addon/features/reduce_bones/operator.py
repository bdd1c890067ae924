"""The operator "Reduce Bones"."""

from araplbs.features.reduce_bones.reduce_bones import ReduceBonesOptions, reduce_bones_summary
from bpy.types import Operator

from ...blender.read.targets import find_posing
from ...operators.command import WHICH, Command
from ...operators.properties import OptionProperties, split
from ...operators.work import WorkOperator
from .task import ReduceBonesTask

IDNAME = "object.araplbs_reduce_bones"


def draw_choice(layout, properties):
    """Draws the choice of bones to remove, and the influence limit for the remaining bones."""
    split(layout).prop(properties, "which")
    if properties.which == "COUNT":
        layout.prop(properties, "platform")
        row = layout.row()
        row.active = properties.platform == "CUSTOM"
        row.prop(properties, "count")
    layout.prop(properties, "max_influences")


class OBJECT_OT_araplbs_reduce_bones(WorkOperator, OptionProperties, Operator):
    """Turn off Deform for the bones that the poses need least, and solve the weights of the \
others again to come as close as possible to the effect of all bones"""

    bl_idname = IDNAME
    bl_label = "Reduce Bones"
    bl_options = {"REGISTER", "UNDO", "PRESET"}
    option_table = ReduceBonesOptions
    task_kind = ReduceBonesTask
    summary = staticmethod(reduce_bones_summary)
    doing = "Reducing"
    find = staticmethod(find_posing)

    def draw(self, _context):
        draw_choice(self.layout, self)
        self.layout.prop(self, "animation")


CLASSES = (OBJECT_OT_araplbs_reduce_bones,)
COMMAND = Command(
    "reduce-bones",
    "deform the meshes of .blend files with fewer bones",
    "Turns off Deform for the bones of every armature that the poses need least, and solves"
    f" the weights of its meshes again: {WHICH}",
    ReduceBonesTask,
    ReduceBonesOptions,
    reduce_bones_summary,
)
