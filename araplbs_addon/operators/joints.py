"""The operator "Optimize Joints (ARAP)", live in a window and at once without, and the one that
locks joints."""

from bpy.props import BoolProperty, EnumProperty
from bpy.types import Operator

from ..blender.joint_effects import refuse_armature
from ..blender.targets import find_targets
from ..core.errors import Refused
from ..core.joints import JointOptions, joint_summary
from ..core.report import notes, warnings
from ..joint_job import JointJob
from ..joint_session import JointSession
from ..preferences import preferred_threads
from .auto_weight import REFUSALS
from .live import LiveOperator
from .properties import OptionProperties, option_properties

IDNAME = "object.araplbs_optimize_joints"
LABEL = "Optimize Joints (ARAP)"


def find_joint_targets(context):
    """The Targets of this operator. Raises Refused with what is to be done."""
    if context.mode not in {"OBJECT", "POSE"}:
        raise Refused("Works in Object and Pose mode")
    targets = find_targets(context, posing=True)
    refuse_armature(targets.armature, targets.meshes)
    return targets


def tell(operator, report, job):
    """Says what was done. The status bar shows the last line, so what matters most comes last."""
    for line in notes(report["weights"]):
        operator.report({"INFO"}, line)
    operator.report({"INFO"}, joint_summary(report))
    for line in warnings(report["weights"]) + job.warnings:
        operator.report({"WARNING"}, line)
    return {"FINISHED"}


class OBJECT_OT_araplbs_optimize_joints(LiveOperator, OptionProperties, Operator):
    """Move the joints of the armature to where the selected meshes keep their shape best when \
posed. The meshes stay as they are at rest"""

    bl_idname = IDNAME
    bl_label = LABEL
    bl_options = {"UNDO"}  # noqa: RUF012  no REGISTER: a window shows the way before it is written

    __annotations__ = option_properties(JointOptions)
    option_table = JointOptions
    own_options = ("volume",)  # it works on the surface
    cancelled = "Optimising joints was cancelled: nothing was changed"

    @classmethod
    def poll(cls, context):
        if not cls.is_free():
            return False
        try:
            find_joint_targets(context)
        except Refused as reason:
            cls.poll_message_set(str(reason))
            return False
        return True

    def execute(self, context):
        """At once, to the end: scripts and background mode."""
        manager = context.window_manager
        manager.progress_begin(0, 100)
        try:
            job = JointJob(self.read_options(), preferred_threads(context))
            job.read(find_joint_targets(context), context.view_layer)
            job.solve(lambda _stage, fraction, _energy: manager.progress_update(100 * fraction))
            report = job.apply()
        except REFUSALS as reason:
            self.report({"ERROR"}, str(reason))
            return {"CANCELLED"}
        finally:
            manager.progress_end()
        return tell(self, report, job)

    def invoke(self, context, _event):
        """In a window: ghosts show where the joints would go until that is accepted."""
        self.take_settings(context)
        return self.begin(
            context,
            lambda: JointSession(
                find_joint_targets(context),
                self.read_options(),
                context.view_layer,
                preferred_threads(context),
            ),
        )

    def conclude(self, session):
        return tell(self, session.report, session.job)


class OBJECT_OT_araplbs_lock_joints(Operator):
    """Lock the joints of the selected bones, or free them: Optimize Joints leaves locked ones \
where they are"""

    bl_idname = "object.araplbs_lock_joints"
    bl_label = "Lock Joints"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    lock: BoolProperty(name="Lock", description="Otherwise they are freed", default=True)
    ends: EnumProperty(
        name="Ends",
        items=(
            ("BOTH", "Both", "Heads and tails"),
            ("HEAD", "Heads", "Where bones begin"),
            ("TAIL", "Tails", "Where bones end"),
        ),
    )

    @classmethod
    def poll(cls, context):
        if context.mode not in {"POSE", "EDIT_ARMATURE"}:
            cls.poll_message_set("Works in Pose mode and in Edit mode of an armature")
            return False
        data = context.active_object.data
        if data.library or data.override_library:
            cls.poll_message_set("The armature is linked from another file")
            return False
        return True

    def execute(self, context):
        bones = self._selected(context)
        if not bones:
            self.report({"ERROR"}, "No bone is selected")
            return {"CANCELLED"}
        for bone in bones:
            if self.ends != "TAIL":
                bone.araplbs_joint.lock_head = self.lock
            if self.ends != "HEAD":
                bone.araplbs_joint.lock_tail = self.lock
        return {"FINISHED"}

    @staticmethod
    def _selected(context):
        if context.mode == "EDIT_ARMATURE":
            return list(context.selected_editable_bones or ())
        return [posed.bone for posed in context.selected_pose_bones or ()]
