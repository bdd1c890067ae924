"""The operators "Check Weights", "Select Finding" and "View Finding"."""

from araplbs.base.refusal import Refused
from araplbs.cli.own_arguments import add_fail_on, code_of_findings
from araplbs.features.check.findings import counted
from araplbs.features.check.report import check_summary
from araplbs.model.options import Options
from bpy.props import IntProperty
from bpy.types import Operator

from ...blender.read.targets import find_checked
from ...blender.write.edit_mode import flush_edit_mode
from ...blender.write.select_region import select_region
from ...languages.translate import inform
from ...operators.command import Command, find_read
from ...operators.properties import OptionProperties
from ...operators.work import WorkOperator, tell
from .findings_list import found, quietly
from .look_at import look_at, places_of, view_of
from .task import CHECKED, CheckTask

IDNAME = "object.araplbs_check"
SELECT = "object.araplbs_select_finding"
VIEW = "object.araplbs_view_finding"


class OBJECT_OT_araplbs_check(WorkOperator, OptionProperties, Operator):
    """Find problems in the current weights, and list them in the panel: stretch, collapse, skin \
that follows the wrong bone, vertices without weights... Nothing is changed"""

    bl_idname = IDNAME
    bl_label = "Check Weights"
    bl_options = {"REGISTER"}
    places = (
        ("VIEW3D_MT_object_parent", 50),
        ("VIEW3D_MT_paint_weight", 50),
        ("VIEW3D_MT_edit_mesh_weights", 20),
    )
    icon = "VIEWZOOM"

    task_kind = CheckTask
    doing = "Checking"

    find = staticmethod(find_checked)

    def start(self, context):
        flush_edit_mode([ob for ob in find_checked(context).meshes if ob.mode == "EDIT"])
        super().start(context)

    def tell(self, _report, task):
        found.keep_of(task.findings, task)
        return tell(self, None, task, counted(found.findings))

    def say_cancelled(self):
        inform(self, f"{self.bl_label} was cancelled")
        return {"CANCELLED"}


class OfFinding:
    """Mix-in for an operator on one finding of the list."""

    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, _context):
        if not found.findings:
            raise Refused("There are no findings: Check Weights first")
        return True

    def finding(self, context):
        """Returns (Finding, object). Raises Refused if no finding is selected."""
        index = context.window_manager.araplbs_check.active if self.index < 0 else self.index
        if index < 0:
            raise Refused("Choose a finding in the list")
        if index >= len(found.findings):
            raise Refused(f"There is no finding {index}: the list has {len(found.findings)}")
        with quietly() as check:
            check.active = index
        finding = found.findings[index]
        return finding, found.objects[finding.mesh].get()

    def execute(self, context):
        return self.work(context, *self.finding(context))


INDEX = IntProperty(
    name="Index", description="Index in the list; -1 for the chosen finding", default=-1
)


class OBJECT_OT_araplbs_select_finding(OfFinding, Operator):
    """Select the vertices that the finding refers to, in Edit mode or with the mask of Weight \
Paint mode, and make its bone the active one"""

    bl_idname = SELECT
    bl_label = "Select Finding"

    index: INDEX

    def work(self, context, finding, ob):
        bone = found.bone(finding)
        select_region(context, ob, finding.vertices, bone)
        armature = found.armature.get()
        if bone in armature.data.bones and armature.mode != "EDIT":
            armature.data.bones.active = armature.data.bones[bone]
        inform(self, finding.words)
        return {"FINISHED"}


class OBJECT_OT_araplbs_view_finding(OfFinding, Operator):
    """Turn the 3D view to the location of the finding"""

    bl_idname = VIEW
    bl_label = "View Finding"
    bl_options = {"REGISTER"}

    index: INDEX

    def work(self, context, finding, ob):
        if not view_of(context):
            raise Refused("Available only in a 3D view")
        places = places_of(context, finding, ob)
        if places is None:
            raise Refused("This finding has no location to show")
        look_at(context, ob, places)
        return {"FINISHED"}


def _code(arguments, results):
    return code_of_findings(arguments, [each for one in results for each in one["armatures"]])


CLASSES = (
    OBJECT_OT_araplbs_check,
    OBJECT_OT_araplbs_select_finding,
    OBJECT_OT_araplbs_view_finding,
)
COMMAND = Command(
    "check",
    "report problems with the weights of .blend files",
    "Prints findings about the weights of every armature's meshes, worst first, and writes no "
    ".blend file. Exit codes: 0 no finding reaches --fail-on, 3 a finding does, 1 a file could "
    "not be checked.",
    CheckTask,
    Options,
    check_summary,
    find=find_read,
    own=add_fail_on,
    only=CHECKED,
    finish=_code,
    texts=(
        ("max_influences", "Report vertices with more influences than this; 0 for no limit"),
        ("symmetric", "Report different weights on the two sides of a symmetric mesh"),
    ),
)
