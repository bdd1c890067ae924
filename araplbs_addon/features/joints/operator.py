"""The operator "Optimize Joints (ARAP)", which runs live in a window and in a single run otherwise,
the operator that locks joints, and the settings of the tab."""

from contextlib import suppress

import bpy
from araplbs.base.refusal import Refused
from araplbs.base.worker import Worker
from araplbs.features.joints.joints import joint_summary
from araplbs.features.joints.options import JointOptions
from araplbs.reports.last_lines import joint_line
from bpy.props import BoolProperty, EnumProperty, PointerProperty
from bpy.types import Operator

from ...blender.read.targets import find_targets
from ...languages.translate import OURS, inform
from ...operators.command import WHICH, Command
from ...operators.live_operator import LiveOperator
from ...operators.properties import OptionProperties
from ...operators.session import (
    GONE,
    KEEPING,
    READING,
    RUNNING,
    LiveSession,
    threads_beside_window,
)
from ...operators.settings import ARAPLBS_settings, own_properties
from ...operators.work import tell
from .effects import refuse_armature
from .task import JointTask


class JointSession(LiveSession):
    keys = ("Enter: move the joints", "Esc: cancel")
    moves_joints = True
    cancelled_in = (RUNNING, KEEPING)  # KEEPING: while the last weights are computed

    def __init__(self, targets, options, view_layer, threads=0):
        task = JointTask(options, threads or threads_beside_window())
        super().__init__(task, targets, view_layer)

    @property
    def frame(self):
        return self.task.run.frame if self.task.run else None

    @property
    def settled(self):
        return self.state == RUNNING and self.task.run.waiting

    def keep(self):
        super().keep()
        if self.state == KEEPING:
            self.task.run.keep()

    def forget(self):
        super().forget()
        self.task = None

    def _survives_undo(self):
        if self.state == READING:
            return False
        with suppress(*GONE):
            self.task.find_objects()
            return True
        return False

    def _read(self, targets, view_layer):
        task = self.task
        yield from task.read_in_steps(targets, view_layer)
        self.worker = Worker(lambda progress: task.solve(progress, wait=True))

    def _keep(self):
        yield from self._wait()
        self.report = self.task.apply()


IDNAME = "object.araplbs_joints"


class ARAPLBS_joint_settings(bpy.types.PropertyGroup):
    __annotations__ = own_properties(JointOptions)


def find_joint_targets(context):
    """The Targets of this operator. Raises Refused with the required user action."""
    if context.mode not in {"OBJECT", "POSE"}:
        raise Refused("Available only in Object and Pose modes")
    targets = find_targets(context, posing=True)
    refuse_armature(targets.armature, targets.meshes)
    return targets


class OBJECT_OT_araplbs_joints(LiveOperator, OptionProperties, Operator):
    """Move the joints of the armature to the positions in which the selected meshes best keep \
their shape when posed. The meshes keep their rest shape"""

    bl_idname = IDNAME
    bl_label = "Optimize Joints (ARAP)"
    bl_options = {"UNDO"}  # no REGISTER: a window shows the way before it is written
    places = (("VIEW3D_MT_object_parent", 70), ("VIEW3D_MT_pose", 10))
    icon = "GROUP_BONE"

    __annotations__ = {
        "only_selected_bones": BoolProperty(
            name="Only Selected Joints",
            description="Move only the heads of the bones selected in Pose mode. Weights may "
            "change anywhere around these bones",
            options=set(),
        ),
    }
    option_table = JointOptions
    own_options = ("volume",)  # it works on the surface
    cancelled = "Optimizing joints was cancelled: nothing was changed"

    task_kind, session_kind = JointTask, JointSession
    find = staticmethod(find_joint_targets)

    def tell(self, report, task):
        inform(self, joint_summary(report))
        return tell(self, report["weights"], task, joint_line(report))


class OBJECT_OT_araplbs_lock_joints(Operator):
    """Lock or unlock the joints of the selected bones. Optimize Joints does not move locked \
joints"""

    bl_idname = "object.araplbs_lock_joints"
    bl_label = "Lock Joints"
    bl_options = {"REGISTER", "UNDO"}

    lock: BoolProperty(
        name="Lock", description="Lock the joints; turn off to unlock them", default=True
    )
    ends: EnumProperty(
        name="Ends",
        items=(
            ("BOTH", "Both", "Heads and tails"),
            ("HEAD", "Heads", "Where bones begin"),
            ("TAIL", "Tails", "Where bones end"),
        ),
        translation_context=OURS,
    )

    @classmethod
    def poll(cls, context):
        if context.mode not in {"POSE", "EDIT_ARMATURE"}:
            raise Refused("Available only in Pose mode and in Edit mode of an armature")
        data = context.active_object.data
        if data.library or data.override_library:
            raise Refused("The armature is linked from another file")
        return True

    def execute(self, context):
        bones = self._selected(context)
        if not bones:
            raise Refused("No bone is selected")
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


CLASSES = (ARAPLBS_joint_settings, OBJECT_OT_araplbs_joints, OBJECT_OT_araplbs_lock_joints)
PROPERTIES = ((ARAPLBS_settings, "joints", PointerProperty(type=ARAPLBS_joint_settings)),)
COMMAND = Command(
    "joints",
    "optimize the joints of the armatures of .blend files",
    "Moves the joints of every armature to where its meshes deform best, and weights the "
    f"meshes: {WHICH}",
    JointTask,
    JointOptions,
    joint_summary,
    weights_of=lambda report: report["weights"],
)
