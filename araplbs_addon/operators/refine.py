"""The operator "Refine Weights (ARAP)": a live session in the viewport."""

import bpy
from bpy.app.handlers import persistent
from bpy.types import Operator

from ..blender.targets import find_targets
from ..live.session import after_undo, current_session, end_session
from ..live.weights import WeightSession
from ..tasks.weighting import WeightingTask
from .auto_weight import tell
from .live import LiveOperator
from .properties import OptionProperties, option_properties
from .retired import RetiredProperties

IDNAME = "object.araplbs_refine_weights"
LABEL = "Refine Weights (ARAP)"


@persistent
def _after_undo(*_arguments):
    after_undo(bpy.data.meshes)


@persistent
def _before_save(*_arguments):
    if current_session():
        current_session().before_save()


@persistent
def _after_save(*_arguments):
    if current_session():
        current_session().after_save()


HANDLERS = {
    "undo_post": _after_undo,
    "redo_post": _after_undo,
    "save_pre": _before_save,
    "save_post": _after_save,
}


class OBJECT_OT_araplbs_refine_weights(LiveOperator, OptionProperties, RetiredProperties, Operator):
    """Watch the weights of the selected meshes converge, and steer them with the brushes of the \
Auto-weight tab, until you keep them or restore what was there"""

    bl_idname = IDNAME
    bl_label = LABEL
    bl_options = {"UNDO"}  # noqa: RUF012  no REGISTER: nothing of it could be adjusted afterwards

    __annotations__ = option_properties(start_from="PRESENT")

    cancelled = "Refining was cancelled: everything is as it was"

    task_kind, session_kind = WeightingTask, WeightSession
    tell = tell

    @staticmethod
    def find(context):
        return find_targets(context, posing=True)

    def other_key(self, context, event, session, space):
        if event.type == "Z" and (event.ctrl or event.oskey) and context.mode != "POSE":
            redo = event.shift
            if not session.undo_edit(redo):
                self.report({"INFO"}, f"Nothing to {'redo' if redo else 'undo'} in this session")
        elif event.type == "LEFTMOUSE" and space == "VIEW" and self._would_paint(context):
            self.report({"INFO"}, "Paint with the Auto-weight tools while the session is running")
        else:
            return {"PASS_THROUGH"}
        return {"RUNNING_MODAL"}

    @staticmethod
    def _would_paint(context):
        """A brush of Blender's own would paint weights that are overwritten at once."""
        if context.mode != "PAINT_WEIGHT":
            return False
        tool = context.workspace.tools.from_space_view3d_mode(context.mode)
        return not (tool and tool.idname.startswith("araplbs."))


def register():
    for name, handler in HANDLERS.items():
        getattr(bpy.app.handlers, name).append(handler)


def unregister():
    for name, handler in HANDLERS.items():
        getattr(bpy.app.handlers, name).remove(handler)
    end_session()
