"""Everything that is registered with Blender once the native module is there."""

from pathlib import Path

import bpy

from . import cli, operators
from .blender.data import bone_kinds, edits, engine_limits, joint_settings
from .blender.read import control_bones
from .languages import translate
from .operators.base.guard import guarded
from .preferences import ARAPLBS_preferences
from .ui.panels import menus, panels
from .ui.views import deformer_view, error_view, manual, overlay, strip, tools

CLASSES = (
    ARAPLBS_preferences,
    edits.ARAPLBS_edit,
    edits.ARAPLBS_mesh,
    joint_settings.ARAPLBS_joint,
    *operators.classes(),
    *panels.CLASSES,
)

# Each has register() and unregister(); they come after the classes and go before them.
PARTS = (
    translate,
    bone_kinds,
    control_bones,
    edits,
    engine_limits,
    joint_settings,
    *(module for module in operators.modules() if hasattr(module, "register")),
    tools,
    menus,
    error_view,
    deformer_view,
    overlay,
    strip,
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
