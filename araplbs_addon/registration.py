"""Everything that is registered with Blender once the native module is there."""

from pathlib import Path

import bpy

from . import cli
from .blender.data import bone_kinds, edits, engine_limits, joint_settings
from .blender.read import control_bones
from .operators.base import live, settings, shown_matches
from .operators.base.guard import guarded
from .operators.edits import bone_roles, brush, edit, rigid, select_worst
from .operators.findings import check, found, repair, show_pose, show_problems
from .operators.weights import (
    auto_weight,
    bake,
    bendy,
    compare,
    joints,
    outcome,
    presets,
    quantize,
    refine,
    shapes,
    transfer,
    weight_new,
)
from .preferences import ARAPLBS_preferences
from .ui.panels import menus, panels
from .ui.views import deformer_view, error_view, manual, overlay, tools

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
    presets.OBJECT_OT_araplbs_load_preset,
    presets.OBJECT_OT_araplbs_add_preset,
    presets.VIEW3D_MT_araplbs_presets,
    outcome.OBJECT_OT_araplbs_show_weights,
    outcome.OBJECT_OT_araplbs_select_note,
    weight_new.OBJECT_OT_araplbs_weight_new,
    quantize.OBJECT_OT_araplbs_quantize_weights,
    bendy.OBJECT_OT_araplbs_bendy_to_bones,
    bake.OBJECT_OT_araplbs_bake,
    compare.OBJECT_OT_araplbs_compare,
    compare.OBJECT_OT_araplbs_compare_methods,
    compare.OBJECT_OT_araplbs_open_comparison,
    refine.OBJECT_OT_araplbs_refine_weights,
    transfer.OBJECT_OT_araplbs_transfer_weights,
    transfer.OBJECT_OT_araplbs_show_matches,
    shapes.OBJECT_OT_araplbs_transfer_shapes,
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
    show_problems.OBJECT_OT_araplbs_show_problems,
    show_pose.OBJECT_OT_araplbs_show_pose,
    show_pose.OBJECT_OT_araplbs_own_pose,
    *panels.CLASSES,
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
    shown_matches,
    found,
    outcome,
    show_pose,
    tools,
    menus,
    error_view,
    deformer_view,
    overlay,
    manual,
    cli,
)

PRESETS = str(Path(__file__).parent)


def register():
    for cls in CLASSES:
        bpy.utils.register_class(guarded(cls))
    for part in PARTS:
        part.register()
    bpy.utils.register_preset_path(PRESETS)


def unregister():
    bpy.utils.unregister_preset_path(PRESETS)
    for part in reversed(PARTS):
        part.unregister()
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
