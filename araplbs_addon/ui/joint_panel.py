"""The panel "Joints" of the tab "Auto-weight": the way to better joints, and what is asked of the
active bone's."""

from bpy.types import Panel

from ..operators.joints import IDNAME, OBJECT_OT_araplbs_lock_joints
from ..operators.settings import settings_of
from .panel import draw_session_buttons

MAIN = ("optimize_weights", "anchor", "reach")
FEW = ("least_length", "centering", "joint_stiffness", "joint_iterations")


class _WithArmature:
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Auto-weight"

    @classmethod
    def poll(cls, context):
        return context.mode in {"OBJECT", "POSE", "EDIT_ARMATURE"}

    def draw(self, context):
        self.layout.use_property_split = True
        self.layout.use_property_decorate = False
        self.draw_rows(context, self.layout)


class VIEW3D_PT_araplbs_joints(_WithArmature, Panel):
    bl_label = "Joints (ARAP)"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw_rows(self, context, layout):
        settings = settings_of(context).joints
        for name in MAIN:
            layout.prop(settings, name)
        row = layout.row()
        row.scale_y = 1.5
        row.operator_context = "INVOKE_DEFAULT"
        row.operator(IDNAME, text="Optimize Joints", icon="GROUP_BONE")
        draw_session_buttons(layout)
        self._draw_bone(context, layout)

    def _draw_bone(self, context, layout):
        bone = context.active_bone
        ob = context.active_object
        if not bone or not ob or ob.type != "ARMATURE":
            return
        layout.separator()
        layout.label(text=bone.name, icon="BONE_DATA")
        column = layout.column(heading="Lock")
        column.prop(bone.araplbs_joint, "lock_head", text="Head")
        column.prop(bone.araplbs_joint, "lock_tail", text="Tail")
        layout.prop(bone.araplbs_joint, "material")
        row = layout.row(align=True)
        name = OBJECT_OT_araplbs_lock_joints.bl_idname
        row.operator(name, text="Lock Selected", icon="LOCKED").lock = True
        row.operator(name, text="Free Selected", icon="UNLOCKED").lock = False


class VIEW3D_PT_araplbs_joint_options(_WithArmature, Panel):
    bl_label = "Advanced"
    bl_parent_id = "VIEW3D_PT_araplbs_joints"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw_rows(self, context, layout):
        for name in FEW:
            layout.prop(settings_of(context).joints, name)
