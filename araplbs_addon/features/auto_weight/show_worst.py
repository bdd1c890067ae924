"""The operators "Show Problems", "Show Worst Pose" and "Peek at Other Weights", which list the
remaining problems of a weighting, put the rig into its worst pose, and display the earlier weights
while a key is held."""

import bpy
from araplbs.base.refusal import Refused
from bpy.props import IntProperty
from bpy.types import Operator

from ...blender.data.views import redraw_views
from ...operators.guard import handing_over
from ...operators.modal_operator import moves_view
from ..check.findings_list import found, quietly
from ..check.look_at import look_at, places_of, refuse_unseen, vertex_places
from ..check.show_pose import has_pose, keep_own, pose_as
from .outcome import AFTER, BEFORE, OfOutcome, outcome_at_hand

IDNAME = "object.araplbs_show_worst"
PROBLEMS = "object.araplbs_show_problems"
PEEK = "object.araplbs_peek_weights"
KEY = "Y"  # free in all modes in which a rig is viewed
held = []  # while the key is held, the set that was shown before
MODES = ("OBJECT", "POSE", "PAINT_WEIGHT")


class OBJECT_OT_araplbs_show_problems(OfOutcome, Operator):
    """List the remaining problems, with a remedy for each"""

    bl_idname = PROBLEMS
    bl_label = "Show Problems"
    bl_options = {"INTERNAL"}

    def execute(self, context):
        list_problems(outcome_at_hand(context))
        show_list()
        return {"FINISHED"}


def list_problems(outcome):
    """Makes the remaining problems of an Outcome the list of findings."""
    if outcome.findings is None:
        raise Refused("Check Weights finds them")
    found.keep(outcome.findings, outcome.bones, outcome.armature, outcome.objects, outcome.poses)


def show_list():
    bpy.ops.wm.call_panel(name="VIEW3D_PT_araplbs_check", keep_open=True)


class OBJECT_OT_araplbs_show_worst(OfOutcome, Operator):
    """Put the rig into the pose with the worst result, turn the view to the worst spot, and color \
the mesh by stretch. Hold Y to see the earlier weights"""

    bl_idname = IDNAME
    bl_label = "Show Worst Pose"

    index: IntProperty(
        name="Index",
        description="Index of the picture in the Result box; -1 for the worst problem",
        default=-1,
        min=-1,
    )

    @classmethod
    def description(cls, context, properties):
        outcome = outcome_at_hand(context)
        seen = outcome.seen if outcome and outcome.seen else ()
        if 0 <= properties.index < len(seen):
            return seen[properties.index].words()
        return None

    def invoke(self, context, event):
        seen = outcome_at_hand(context).seen or ()
        if not event.shift or not 0 <= self.index < len(seen):
            return self._show(context)
        with handing_over():
            bpy.ops.object.araplbs_play_motion("INVOKE_DEFAULT", bone=seen[self.index].bone)
        return {"CANCELLED"}  # nothing to undo

    def execute(self, context):
        return self._show(context)

    def _show(self, context):
        outcome = outcome_at_hand(context)
        armature = outcome.armature.get()
        seen, index = outcome.seen or (), self.index
        keep_own(context)
        if index < 0:
            list_problems(outcome)
            worst = worst_of(found.findings)
            if worst is None:
                index = worst_joint(seen)
        if index >= len(seen):
            raise Refused(f"There is no picture {index}: there are {len(seen)}")
        if index >= 0:
            each = seen[index]
            ob = outcome.objects[each.mesh].get()
            refuse_unseen(context, ob)
            pose_as(context, armature, outcome.bones, outcome.poses, each.pose, ob)
            look_at(context, ob, vertex_places(context, ob, each.vertices))
            return {"FINISHED"}
        finding = found.findings[worst]
        ob = outcome.objects[finding.mesh].get()
        refuse_unseen(context, ob)
        with quietly() as check:
            check.active, check.show = worst, True
        pose_as(context, armature, outcome.bones, outcome.poses, finding.pose, ob)
        look_at(context, ob, places_of(context, finding, ob))
        return {"FINISHED"}


def worst_of(findings):
    """Index of the worst finding that occurs in one pose, or None."""
    posed = [k for k, finding in enumerate(findings) if has_pose(finding)]
    return max(posed, key=lambda k: (findings[k].severity, -k), default=None)


def worst_joint(seen):
    """Index of the image of the joint with the highest strain. Raises Refused if there are no
    images."""
    if not seen:
        raise Refused("No problem depends on the pose")
    return max(range(len(seen)), key=lambda k: seen[k].strain[1])


class OBJECT_OT_araplbs_peek_weights(Operator):
    """Show the earlier weights while the key is held, and the new ones again when it is released"""

    bl_idname = PEEK
    bl_label = "Peek at Other Weights"
    bl_options = {"INTERNAL"}

    _outcome = _shown = _key = None

    @classmethod
    def poll(cls, context):
        """Returns whether the operator uses the key. Otherwise, the key keeps its other
        functions."""
        if context.mode not in MODES or not OfOutcome.poll.__func__(cls, context):
            return False
        return bool(outcome_at_hand(context).slots[BEFORE])

    def invoke(self, context, event):
        self._outcome, self._key = outcome_at_hand(context), event.type
        self._shown = self._outcome.shown()
        held[:] = [self._shown]
        self._outcome.show(BEFORE if self._shown == AFTER else AFTER)
        redraw_views()
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, _context, event):
        released = event.type == self._key and event.value == "RELEASE"
        if released or event.type in {"ESC", "WINDOW_DEACTIVATE"}:
            self._put_back()
            return {"FINISHED"}
        return {"PASS_THROUGH"} if moves_view(event) else {"RUNNING_MODAL"}

    def cancel(self, _context):
        self._put_back()

    def abandon(self, _context):
        """See guard.py."""
        self._put_back()

    def _put_back(self):
        outcome, self._outcome = self._outcome, None
        held.clear()
        if outcome and outcome.shown() is not None:
            outcome.show(self._shown)
            redraw_views()


CLASSES = (
    OBJECT_OT_araplbs_show_problems,
    OBJECT_OT_araplbs_show_worst,
    OBJECT_OT_araplbs_peek_weights,
)
KEYS = (("3D_View_Generic", "VIEW_3D", PEEK, KEY, "PRESS", {}),)
