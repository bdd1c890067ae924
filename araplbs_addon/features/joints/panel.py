"""The panel "Joints", for optimizing and locking joints."""

from bpy.types import Panel

from ...operators.settings import settings_of
from ...operators.sidebar import Closed, draw_checkbox, draw_large
from .operator import IDNAME, OBJECT_OT_araplbs_lock_joints

MAIN = ("optimize_weights", "anchor")
FEW = ("max_shift", "min_length", "centering", "joint_stiffness", "joint_iterations")


class VIEW3D_PT_araplbs_joints(Closed, Panel):
    bl_label = "Joints"
    own_modes = ("OBJECT", "POSE", "EDIT_ARMATURE")

    def draw(self, context):
        layout, settings = self.split_layout(), settings_of(context).joints
        draw_large(layout, IDNAME, text="Optimize Joints", icon="GROUP_BONE")
        for name in MAIN:
            row = layout.row()  # in some languages a choice needs the whole width
            row.use_property_split = settings.bl_rna.properties[name].type != "BOOLEAN"
            row.prop(settings, name)
        if context.mode == "POSE":
            text = "Only Selected Joints"
            draw_checkbox(layout, settings_of(context), "only_selected_bones", text)
        self._draw_bone(context, layout)

    def _draw_bone(self, context, layout):
        bone = context.active_bone
        ob = context.active_object
        if not bone or not ob or ob.type != "ARMATURE":
            return
        layout.separator()
        layout.label(text=bone.name, icon="BONE_DATA", translate=False)
        column = layout.column(heading="Lock")
        column.prop(bone.araplbs_joint, "lock_head", text="Head")
        column.prop(bone.araplbs_joint, "lock_tail", text="Tail")
        column = layout.column(align=True)
        name = OBJECT_OT_araplbs_lock_joints.bl_idname
        column.operator(name, text="Lock Selected", icon="LOCKED").lock = True
        column.operator(name, text="Free Selected", icon="UNLOCKED").lock = False
