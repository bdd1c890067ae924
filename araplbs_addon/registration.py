"""Everything that Blender is told of when the native module is there."""

from pathlib import Path

import bpy

from . import cli
from .operators.auto_weight import OBJECT_OT_araplbs_auto_weight
from .operators.load_preset import OBJECT_OT_araplbs_load_preset
from .preferences import ARAPLBS_preferences
from .ui import menus, panel

CLASSES = (
    ARAPLBS_preferences,
    OBJECT_OT_araplbs_auto_weight,
    OBJECT_OT_araplbs_load_preset,
    panel.VIEW3D_MT_araplbs_presets,
    panel.VIEW3D_PT_araplbs,
    panel.VIEW3D_PT_araplbs_poses,
    panel.VIEW3D_PT_araplbs_advanced,
)

PRESETS = str(Path(__file__).parent)


def register():
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    menus.register()
    cli.register()
    bpy.utils.register_preset_path(PRESETS)


def unregister():
    bpy.utils.unregister_preset_path(PRESETS)
    cli.unregister()
    menus.unregister()
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
