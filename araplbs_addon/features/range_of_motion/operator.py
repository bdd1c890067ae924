"""The operator "Range of Motion"."""

from araplbs.base.refusal import Refused
from araplbs.features.range_of_motion import MotionOptions, motion_summary
from bpy.types import Operator

from ...blender.read.targets import Targets, armature_at_hand, find_armatures_in_file
from ...operators.command import Command
from ...operators.properties import OptionProperties, split
from ...operators.work import WorkOperator
from .task import MotionTask

IDNAME = "object.araplbs_range_of_motion"


def find_armature(context):
    """The Targets for the active armature, or for the armature of the active mesh. Raises
    Refused."""
    if context.mode not in {"OBJECT", "POSE", "PAINT_WEIGHT"}:
        raise Refused("Available only in Object, Pose and Weight Paint modes")
    armature = armature_at_hand(context)
    if armature is None:
        raise Refused("The active object is not an armature and has none")
    return Targets(armature, [])


class OBJECT_OT_araplbs_range_of_motion(WorkOperator, OptionProperties, Operator):
    """Create an action for testing weights. It moves each joint to its limits, then all joints \
together, and makes a biped walk and reach; each pose has a marker. It uses the controls of \
the rig, if there are any"""

    bl_idname = IDNAME
    bl_label = "Range of Motion"
    bl_options = {"REGISTER", "UNDO", "PRESET"}
    places = (
        ("VIEW3D_PT_araplbs_poses", 10),
        ("VIEW3D_MT_object_parent", 80),
        ("VIEW3D_MT_pose", 40),
    )
    icon = "ACTION"

    option_table = MotionOptions
    own_options = ("symmetric",)  # it means the poses here
    task_kind = MotionTask
    summary = staticmethod(motion_summary)
    doing = "Making poses"
    find = staticmethod(find_armature)

    def draw(self, _context):
        layout = split(self.layout)
        column = layout.column(align=True)
        column.prop(self, "swing")
        column.prop(self, "twist")
        column.prop(self, "limb_twist")
        layout.prop(self, "use_joint_limits")
        layout.prop(self, "combinations")
        layout.prop(self, "acts")
        layout.prop(self, "spacing")


CLASSES = (OBJECT_OT_araplbs_range_of_motion,)
COMMAND = Command(
    "motion",
    "create an action that moves every joint of the armatures of .blend files",
    "Gives every armature an action that moves each joint to its limits, then all joints "
    "together, and makes a biped walk and reach; each pose has a marker. The input stays "
    "unchanged unless --in-place is given.",
    MotionTask,
    MotionOptions,
    motion_summary,
    find=lambda arguments, view_layer: find_armatures_in_file(view_layer, arguments.armature),
)
