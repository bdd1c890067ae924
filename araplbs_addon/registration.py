"""Everything that Blender is told of when the native module is there."""

from pathlib import Path

import bpy

from . import cli
from .blender import bone_kinds, control_bones, edits, engine_limits, joint_settings
from .operators import (
    auto_weight,
    bake,
    bendy,
    bone_roles,
    brush,
    check,
    compare,
    edit,
    found,
    joints,
    live,
    load_preset,
    quantize,
    refine,
    repair,
    rigid,
    select_worst,
    settings,
    transfer,
    weight_new,
)
from .preferences import ARAPLBS_preferences
from .ui import (
    check_panel,
    compare_panel,
    deformer_view,
    error_view,
    joint_panel,
    menus,
    overlay,
    panel,
    tools,
)

CLASSES = (
    ARAPLBS_preferences,
    edits.ARAPLBS_edit,
    edits.ARAPLBS_mesh,
    joint_settings.ARAPLBS_joint,
    brush.ARAPLBS_brush,
    settings.ARAPLBS_joint_settings,
    settings.ARAPLBS_transfer_settings,
    settings.ARAPLBS_compare_settings,
    settings.ARAPLBS_settings,
    found.ARAPLBS_finding,
    found.ARAPLBS_check,
    auto_weight.OBJECT_OT_araplbs_auto_weight,
    load_preset.OBJECT_OT_araplbs_load_preset,
    weight_new.OBJECT_OT_araplbs_weight_new,
    quantize.OBJECT_OT_araplbs_quantize_weights,
    bendy.OBJECT_OT_araplbs_bendy_to_bones,
    bake.OBJECT_OT_araplbs_bake,
    compare.OBJECT_OT_araplbs_compare,
    compare.OBJECT_OT_araplbs_open_comparison,
    refine.OBJECT_OT_araplbs_refine_weights,
    transfer.OBJECT_OT_araplbs_transfer_weights,
    transfer.OBJECT_OT_araplbs_show_matches,
    live.OBJECT_OT_araplbs_accept,
    live.OBJECT_OT_araplbs_restore,
    joints.OBJECT_OT_araplbs_optimize_joints,
    joints.OBJECT_OT_araplbs_lock_joints,
    edit.OBJECT_OT_araplbs_edit_vertices,
    edit.OBJECT_OT_araplbs_add_link,
    edit.OBJECT_OT_araplbs_remove_edit,
    edit.OBJECT_OT_araplbs_select_edit,
    rigid.OBJECT_OT_araplbs_mark_rigid,
    rigid.OBJECT_OT_araplbs_clear_rigid,
    rigid.VIEW3D_MT_araplbs_rigid,
    select_worst.OBJECT_OT_araplbs_select_worst,
    bone_roles.OBJECT_OT_araplbs_take_in,
    bone_roles.OBJECT_OT_araplbs_deform_off,
    brush.OBJECT_OT_araplbs_brush,
    check.OBJECT_OT_araplbs_check,
    check.OBJECT_OT_araplbs_select_finding,
    check.OBJECT_OT_araplbs_view_finding,
    repair.OBJECT_OT_araplbs_repair,
    panel.VIEW3D_MT_araplbs_presets,
    panel.DATA_UL_araplbs_edits,
    panel.VIEW3D_PT_araplbs,
    panel.VIEW3D_PT_araplbs_new,
    panel.DATA_UL_araplbs_control_bones,
    panel.VIEW3D_PT_araplbs_control_bones,
    panel.VIEW3D_PT_araplbs_poses,
    panel.VIEW3D_PT_araplbs_advanced,
    panel.VIEW3D_PT_araplbs_edits,
    panel.VIEW3D_PT_araplbs_errors,
    panel.VIEW3D_PT_araplbs_deformers,
    panel.VIEW3D_PT_araplbs_bake,
    panel.VIEW3D_PT_araplbs_transfer,
    compare_panel.VIEW3D_PT_araplbs_compare,
    panel.VIEW3D_PT_araplbs_bendy,
    panel.BONE_PT_araplbs,
    joint_panel.VIEW3D_PT_araplbs_joints,
    joint_panel.VIEW3D_PT_araplbs_joint_options,
    check_panel.DATA_UL_araplbs_findings,
    check_panel.VIEW3D_PT_araplbs_check,
)

# Each has register() and unregister(); they come after the classes and go before them.
PARTS = (
    bone_kinds,
    control_bones,
    edits,
    engine_limits,
    joint_settings,
    settings,
    brush,
    refine,
    transfer,
    found,
    tools,
    menus,
    error_view,
    deformer_view,
    overlay,
    cli,
)

PRESETS = str(Path(__file__).parent)


def register():
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    for part in PARTS:
        part.register()
    bpy.utils.register_preset_path(PRESETS)


def unregister():
    bpy.utils.unregister_preset_path(PRESETS)
    for part in reversed(PARTS):
        part.unregister()
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
