"""Everything that Blender is told of when the native module is there."""

from pathlib import Path

import bpy

from . import cli
from .blender import edits
from .operators import edit, refine
from .operators.auto_weight import OBJECT_OT_araplbs_auto_weight
from .operators.load_preset import OBJECT_OT_araplbs_load_preset
from .preferences import ARAPLBS_preferences
from .ui import menus, panel

CLASSES = (
    ARAPLBS_preferences,
    OBJECT_OT_araplbs_auto_weight,
    OBJECT_OT_araplbs_load_preset,
    edits.ARAPLBS_edit,
    edits.ARAPLBS_mesh,
    refine.OBJECT_OT_araplbs_refine_weights,
    refine.OBJECT_OT_araplbs_accept,
    refine.OBJECT_OT_araplbs_restore,
    edit.OBJECT_OT_araplbs_edit_vertices,
    edit.OBJECT_OT_araplbs_add_link,
    edit.OBJECT_OT_araplbs_remove_edit,
    edit.OBJECT_OT_araplbs_select_edit,
    panel.VIEW3D_MT_araplbs_presets,
    panel.VIEW3D_PT_araplbs,
    panel.VIEW3D_PT_araplbs_poses,
    panel.VIEW3D_PT_araplbs_advanced,
)

PRESETS = str(Path(__file__).parent)


def register():
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    edits.register()
    refine.register()
    menus.register()
    cli.register()
    bpy.utils.register_preset_path(PRESETS)


def unregister():
    bpy.utils.unregister_preset_path(PRESETS)
    cli.unregister()
    menus.unregister()
    refine.unregister()
    edits.unregister()
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
