"""All panels and lists, in their order in the tab."""

from ..features.joints.panel import VIEW3D_PT_araplbs_joints
from .bones_panel import (
    BONE_PT_araplbs,
    DATA_UL_araplbs_control_bones,
    DATA_UL_araplbs_edits,
    VIEW3D_PT_araplbs_bones,
)
from .check_panel import DATA_UL_araplbs_findings, VIEW3D_PT_araplbs_check
from .clothes_panel import VIEW3D_PT_araplbs_clothes
from .expert_panel import VIEW3D_PT_araplbs_expert
from .export_panel import VIEW3D_PT_araplbs_export
from .main_panel import VIEW3D_PT_araplbs
from .poses_panel import VIEW3D_PT_araplbs_poses

CLASSES = (
    VIEW3D_PT_araplbs,
    DATA_UL_araplbs_control_bones,
    DATA_UL_araplbs_edits,
    VIEW3D_PT_araplbs_bones,
    VIEW3D_PT_araplbs_poses,
    DATA_UL_araplbs_findings,
    VIEW3D_PT_araplbs_check,
    VIEW3D_PT_araplbs_clothes,
    VIEW3D_PT_araplbs_joints,
    VIEW3D_PT_araplbs_export,
    VIEW3D_PT_araplbs_expert,
    BONE_PT_araplbs,
)
