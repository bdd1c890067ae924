"""The panel "Touch Up" for single bones and limbs, in the modes in which weights are corrected."""

from bpy.types import Panel

from ..features.auto_weight.limb import PICK
from ..features.auto_weight.mirror_painted import IDNAME as MIRROR
from ..features.touch_up import operator as locks
from ..features.touch_up.reach import IDNAME as REACH
from ..window.session import current_session
from ..window.sidebar import InTab, grid_of_two

OTHERS = {MIRROR: "Mirror Painted Side", PICK: "Weight One Limb", REACH: "Reach of Bone"}


class VIEW3D_PT_araplbs_touch_up(InTab, Panel):
    bl_label = "Touch Up"
    bl_parent_id = "VIEW3D_PT_araplbs"
    own_modes = ("PAINT_WEIGHT", "POSE")

    @classmethod
    def poll(cls, context):
        return super().poll(context) and not current_session()

    def draw(self, _context):
        layout, names = self.layout, {which: name for which, name, _about in locks.WHICH}
        layout.operator_context = "INVOKE_DEFAULT"
        grid = grid_of_two(layout, *names.values(), *OTHERS.values())
        for which, name in names.items():
            grid.operator(locks.IDNAME, text=name).which = which
        for idname, name in OTHERS.items():
            grid.operator(idname, text=name)
