"""The operator "Refine Live (ARAP)", which runs a session in the viewport."""

import bpy
from bpy.types import Operator

from ...blender.read.targets import find_posing
from ...languages.translate import inform
from ...operators.live_operator import LiveOperator, is_over_view
from ...operators.properties import BoneChoice, OptionProperties, option_properties
from ...operators.session import RUNNING, after_save, after_undo, before_save, end_session
from ...weighting import WeightingTask
from .counting import count_problems
from .live import WeightSession
from .outcome import latest_outcome, tell_outcome

IDNAME = "object.araplbs_refine_weights"
LIVE = ("max_influences", "bone_spring_stiffness")  # settings that take effect in a session
FIRST_TOOL = "araplbs.weight"


class OBJECT_OT_araplbs_refine_weights(LiveOperator, BoneChoice, OptionProperties, Operator):
    """Start from the current weights, watch them converge, and correct them with the brushes of \
Weight Paint mode until you accept or cancel"""

    bl_idname = IDNAME
    bl_label = "Refine Live (ARAP)"
    bl_options = {"UNDO"}  # no REGISTER: nothing of it could be adjusted afterwards
    places = (("VIEW3D_MT_object_parent", 20), ("VIEW3D_MT_paint_weight", 20))
    icon = "PLAY"

    __annotations__ = option_properties(start_from="PRESENT")
    own_options = ("start_from", "volume")  # the session works on the surface

    _settings = None  # at the last check
    cancelled = "Refining was cancelled: everything was restored"

    task_kind, session_kind = WeightingTask, WeightSession

    find = staticmethod(find_posing)

    def tell(self, report, task):
        """Reports like tell_outcome(). The remaining problems are counted afterwards."""
        result = tell_outcome(self, report, task)
        count_problems(latest_outcome(), task)
        return result

    def other_key(self, context, event, session):
        if event.type == "Z" and (event.ctrl or event.oskey) and context.mode != "POSE":
            redo = event.shift
            if not session.undo_edit(redo):
                inform(self, f"Nothing to {'redo' if redo else 'undo'} in this session")
        elif event.type == "LEFTMOUSE" and self._would_paint(context, event):
            inform(self, "Paint with the Auto-weight brushes while the session runs")
        else:
            return {"PASS_THROUGH"}
        return {"RUNNING_MODAL"}

    def follow(self, context, session):
        """Applies changes of the tab's settings that affect a session."""
        if session.state != RUNNING or not session.frame:
            return
        now = live_settings(context)
        changed = {name: value for name, value in now.items() if value != self._settings[name]}
        self._settings = now
        if changed:
            session.set_options(**changed)

    def prepare(self, context):
        """Selects the first of our brushes, because one of Blender's own would have no effect."""
        self._settings = live_settings(context)
        if context.mode == "PAINT_WEIGHT" and not _has_our_tool(context) and context.area:
            bpy.ops.wm.tool_set_by_id(name=FIRST_TOOL)

    @staticmethod
    def _would_paint(context, event):
        """Whether a Blender brush would paint weights that the session would overwrite at once.
        With Ctrl and Shift, the brush picks a bone instead."""
        if context.mode != "PAINT_WEIGHT" or (event.ctrl and event.shift):
            return False
        return is_over_view(context, event) and not _has_our_tool(context)


def live_settings(context):
    return {name: getattr(context.scene.araplbs, name) for name in LIVE}


def _has_our_tool(context):
    tool = context.workspace.tools.from_space_view3d_mode(context.mode)
    return bool(tool and tool.idname.startswith("araplbs."))


CLASSES = (OBJECT_OT_araplbs_refine_weights,)
HANDLERS = (
    ("undo_post", after_undo),
    ("redo_post", after_undo),
    ("save_pre", before_save),
    ("save_post", after_save),
    ("save_post_fail", after_save),
)
unregister = end_session
