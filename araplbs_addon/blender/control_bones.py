"""What bones tell of control bones: why one was left out, and that one is to move vertices all the
same. Bone.araplbs_control and Bone.araplbs_deforms keep it in the file."""

import bpy

from ..core.control_bones import REASONS


def mark_control_bones(armature, skeleton):
    """Notes on the bones which ones were left out; nothing on those of a linked file."""
    if armature.data.library:
        return
    for bone, code in zip(armature.data.bones, skeleton.control.tolist(), strict=True):
        if bone.araplbs_control != REASONS[code][0]:
            bone.araplbs_control = REASONS[code][0]


def is_left_out(bone):
    """Whether the bone was left out and will be again."""
    return bone.araplbs_control != "NONE" and bone.use_deform and not bone.araplbs_deforms


def reason(bone):
    """Name of the reason, for people."""
    return next(name for identifier, name, _tip in REASONS if identifier == bone.araplbs_control)


def register():
    bpy.types.Bone.araplbs_control = bpy.props.EnumProperty(
        name="Control Bone",
        description="Why Auto-weight (ARAP) last left the bone out",
        items=REASONS,
        options=set(),
    )
    bpy.types.Bone.araplbs_deforms = bpy.props.BoolProperty(
        name="Never Leave Out",
        description="Auto-weight (ARAP) lets the bone move vertices even if it looks like a "
        "control bone",
        options=set(),
    )
    bpy.types.WindowManager.araplbs_control_bone = bpy.props.IntProperty(
        name="Control Bone", description="Place in the list", options={"SKIP_SAVE"}
    )


def unregister():
    del bpy.types.WindowManager.araplbs_control_bone
    del bpy.types.Bone.araplbs_control, bpy.types.Bone.araplbs_deforms
