"""Operators for control bones: use a bone for deformation again, or turn off *Deform* for it."""

from araplbs.base.refusal import Refused
from bpy.props import BoolProperty, StringProperty
from bpy.types import Operator

from ...blender.read.control_bones import is_left_out
from ...blender.read.targets import armature_at_hand


class _OfBone:
    """bone: the name of a bone, or empty for all excluded bones."""

    bl_options = {"REGISTER", "UNDO"}

    bone: StringProperty(
        name="Bone", description="Name of the bone. If empty, all control bones are used"
    )

    @classmethod
    def poll(cls, context):
        armature = armature_at_hand(context)
        if armature is None:
            raise Refused("The active object is not an armature and has none")
        if armature.mode == "EDIT":
            raise Refused("Not in Edit mode")
        if armature.data.library or armature.data.override_library:
            raise Refused("The armature belongs to another file")
        return True

    def execute(self, context):
        bones = armature_at_hand(context).data.bones
        if self.bone and self.bone not in bones:
            raise Refused(f"There is no bone '{self.bone}'")
        chosen = [bones[self.bone]] if self.bone else [b for b in bones if is_left_out(b)]
        if not chosen:
            raise Refused("No control bone was left out")
        for bone in chosen:
            self.change(bone)
        return {"FINISHED"}


class OBJECT_OT_araplbs_take_in(_OfBone, Operator):
    """Let a control bone move vertices again, starting with the next Auto-weight"""

    bl_idname = "object.araplbs_take_in"
    bl_label = "Use Again"

    take_in: BoolProperty(
        name="Use Again",
        description="If on, the bone always counts as a deform bone. If off, control bones are "
        "detected automatically",
        default=True,
    )

    def change(self, bone):
        bone.araplbs_deforms = self.take_in


class OBJECT_OT_araplbs_deform_off(_OfBone, Operator):
    """Turn off Deform for a control bone, so that it moves no vertex in any tool"""

    bl_idname = "object.araplbs_deform_off"
    bl_label = "Never Deform"

    def change(self, bone):
        bone.use_deform = False


CLASSES = (OBJECT_OT_araplbs_take_in, OBJECT_OT_araplbs_deform_off)
