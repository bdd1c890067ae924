"""The operator "Reduce Bones...": asks for the platform, and names the bones that would be
removed."""

import bpy
from araplbs.features.reduce_bones.reduce_bones import ReduceBonesOptions
from bpy.types import Operator

from ...blender.read.targets import find_posing
from ...languages.translate import translated
from ...operators.guard import handing_over
from ...operators.properties import OptionProperties
from ...operators.session import refuse_session
from ...operators.work import WorkOperator
from .operator import draw_choice
from .task import BoneOrderTask

IDNAME = "object.araplbs_reduce_bones_find"
ASK = "object.araplbs_reduce_bones_ask"
MOST_NAMES, COLUMNS = 24, 3  # displayed names
ASKED = ("which", "platform", "count", "max_influences")

_order = []  # contains the last Order


class OBJECT_OT_araplbs_reduce_bones_find(WorkOperator, OptionProperties, Operator):
    """Turn off Deform for the bones that the poses need least. Asks how many should remain, and \
lists those that would no longer deform"""

    bl_idname = IDNAME
    bl_label = "Reduce Bones..."
    bl_options = {"REGISTER"}
    places = (("VIEW3D_PT_araplbs_export", 15), ("VIEW3D_MT_pose", 45))
    icon = "GROUP_BONE"

    option_table = ReduceBonesOptions
    task_kind = BoneOrderTask
    doing = "Choosing bones"
    find = staticmethod(find_posing)

    def finish(self, task):
        task.apply()
        _order[:] = [task.order]
        if not bpy.app.background:
            with handing_over():
                bpy.ops.object.araplbs_reduce_bones_ask("INVOKE_DEFAULT")
        return {"FINISHED"}


class OBJECT_OT_araplbs_reduce_bones_ask(OptionProperties, Operator):
    """Turn off Deform for these bones, and solve the weights of the others again"""

    bl_idname = ASK
    bl_label = "Reduce Bones"
    bl_options = {"INTERNAL"}

    option_table = ReduceBonesOptions

    @classmethod
    def poll(cls, _context):
        refuse_session()
        return bool(_order)

    def invoke(self, context, _event):
        manager = context.window_manager
        return manager.invoke_props_dialog(self, width=400)

    def draw(self, _context):
        draw_choice(self.layout, self)
        self._draw_names(self.layout.box())

    def _draw_names(self, layout):
        order, names = _order[0], self.names()
        left = order.flagged - len(names)
        layout.label(text=translated(f"{order.flagged} -> {left} deform bones"), icon="BONE_DATA")
        if not names:
            layout.label(text="No bone is removed", icon="INFO")
            return
        layout.label(text="No longer deform:")
        grid = layout.grid_flow(row_major=True, columns=COLUMNS, even_columns=True, align=True)
        for name in names[:MOST_NAMES]:
            grid.label(text=name, translate=False)
        if len(names) > MOST_NAMES:
            layout.label(text=translated(f"and {len(names) - MOST_NAMES} more"))

    def names(self):
        """The bones that the current options remove."""
        return _order[0].going(self.read_options())

    def execute(self, _context):
        chosen = {name: getattr(self, name) for name in ASKED}
        with handing_over():
            bpy.ops.object.araplbs_reduce_bones("INVOKE_DEFAULT", **chosen)
        return {"FINISHED"}


CLASSES = (OBJECT_OT_araplbs_reduce_bones_find, OBJECT_OT_araplbs_reduce_bones_ask)
forget = _order.clear
